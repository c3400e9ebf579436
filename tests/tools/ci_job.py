"""Runs the one job of a CI file, as the runner would: its steps' shell commands, in order.

usage: python3 ci_job.py FILE   .gitlab-ci.yml or a workflow of GitHub Actions

The exit status is the job's, 1 for one that failed. What the job's environment takes from variables
and secrets of the project is in ours.
"""
import os
import re
import subprocess
import sys
import tempfile

import yaml


def shell(commands, environment):
    """True: they succeeded. Both runners stop at the first command that fails."""
    return subprocess.run(["bash", "-e", "-c", commands], env=environment, check=False).returncode == 0


def gitlab(job):
    environment = dict(os.environ, **job.get("variables", {}))
    good = shell("\n".join(job.get("before_script", []) + job["script"]), environment)
    shell("\n".join(job.get("after_script", [])), environment)  # whatever it returns
    return good


def resolved(text):
    return re.sub(r"\$\{\{ (?:vars|secrets)\.(\w+) \}\}", lambda match: os.environ.get(match[1], ""), text)


def github(job):
    environment = dict(os.environ, **{name: resolved(text) for name, text in job["env"].items()})
    good = True
    with tempfile.NamedTemporaryFile("r+", encoding="utf-8") as file:
        for step in job["steps"]:
            if good or step.get("if") == "always()":
                good = shell(step["run"], dict(environment, GITHUB_ENV=file.name)) and good
                file.seek(0)
                environment.update(line.rstrip("\n").split("=", 1) for line in file)
    return good


def main(path):
    with open(path, encoding="utf-8") as file:
        content = yaml.safe_load(file)
    if "jobs" in content:
        (job,) = content["jobs"].values()
        return github(job)
    (job,) = content.values()
    return gitlab(job)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) else 1)
