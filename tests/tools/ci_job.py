"""Runs the one job of a CI file, as the runner would: its steps' shell commands, in order.

usage: python3 ci_job.py FILE   .gitlab-ci.yml, a workflow of GitHub Actions, steps of Buildkite, or a Jenkinsfile

The exit status is the job's, 1 for one that failed; one whose status is allowed says "allowed" and succeeds. What the
job's environment takes from variables and secrets of the project is in ours.
"""
import os
import re
import subprocess
import sys
import tempfile

import yaml


def shell(commands, environment, allowed=()):
    """True: they succeeded. All runners stop at the first command that fails."""
    status = subprocess.run(["bash", "-e", "-c", commands], env=environment, check=False).returncode
    if status in allowed:
        print("allowed:", status, flush=True)
    return status == 0 or status in allowed


def gitlab(job):
    environment = dict(os.environ, **job.get("variables", {}))
    allowed = job.get("allow_failure", {}).get("exit_codes", [])
    good = shell("\n".join(job.get("before_script", []) + job["script"]), environment, allowed)
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


def buildkite(steps):
    return all(shell(step["command"], dict(os.environ), [soft["exit_status"] for soft in step["soft_fail"]])
               for step in steps)


def jenkins(text):
    """What its sh step runs, and which statuses are no error by the line after it."""
    assert text.count("{") == text.count("}")
    command, allowed = re.search(r"sh\(returnStatus: true, script: '(.*)'\)\n *if \(status in \[(.*)\]\)", text).groups()
    return shell(command, dict(os.environ), [int(number) for number in allowed.split(",")])


def main(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.startswith("pipeline {"):
        return jenkins(text)
    content = yaml.safe_load(text)
    if "steps" in content:
        return buildkite(content["steps"])
    if "jobs" in content:
        (job,) = content["jobs"].values()
        return github(job)
    (job,) = content.values()
    return gitlab(job)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1]) else 1)
