"""Runs the commands of an Ansible playbook here, as Ansible would on one host: those of its tasks that call
ansible.builtin.command, in order, judged by failed_when.

usage: python3 playbook.py FILE
"""
import subprocess
import sys
import types

import yaml

COMMAND = "ansible.builtin.command"


def run(task):
    known = {"name", COMMAND, "register", "changed_when", "failed_when"}
    assert set(task) <= known and task["name"], task
    words = task[COMMAND]["argv"]
    assert all(isinstance(word, str) for word in words), f"not text, which argv takes: {words}"
    result = types.SimpleNamespace(rc=subprocess.run(words, check=False).returncode)
    if "failed_when" not in task:
        return result.rc == 0
    return not eval(task["failed_when"], {task["register"]: result})


def main(path):
    with open(path, encoding="utf-8") as file:
        plays = yaml.safe_load(file)
    for play in plays:
        assert set(play) == {"name", "hosts", "tasks"}, play
        for task in play["tasks"]:
            if not run(task):
                print(f"playbook.py: failed: {task['name']}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
