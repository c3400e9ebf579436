"""Becomes the one container of a Kubernetes manifest, after a look at all of it: what it says must be what Kubernetes knows.

usage: python3 pod.py FILE SECRETS SERVER   the directory SECRETS is mounted in the place of the secret, SERVER in
                                            that of the server
"""
import os
import re
import sys

import yaml

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
METADATA = {"name": NAME, "labels": {str: str}}
POD = {
    "restartPolicy": re.compile("Always|OnFailure|Never"),
    "terminationGracePeriodSeconds": int,
    "topologySpreadConstraints": [{
        "maxSkew": int, "topologyKey": str, "whenUnsatisfiable": re.compile("DoNotSchedule|ScheduleAnyway"),
        "labelSelector": {"matchLabels": {str: str}}}],
    "containers": [{
        "name": NAME, "image": str, "command": [str],
        "resources": {each: {"cpu": re.compile("[0-9]+m"), "memory": re.compile("[0-9]+[MG]i")} for each in ("requests", "limits")},
        "securityContext": {
            "runAsNonRoot": bool, "runAsUser": int, "allowPrivilegeEscalation": bool,
            "capabilities": {"drop": [re.compile("ALL|[A-Z_]+")]}},
        "env": [{"name": re.compile("[A-Z_]+"), "value": str}],
        "volumeMounts": [{"name": NAME, "mountPath": re.compile("/.*"), "readOnly": bool}]}],
    "volumes": [{"name": NAME, "secret": {"secretName": NAME}}],
}
TEMPLATE = {"metadata": METADATA, "spec": POD}
KNOWN = {
    "CronJob": {
        "apiVersion": re.compile("batch/v1"), "kind": str, "metadata": METADATA, "spec": {
            "schedule": re.compile(r"([-*/,0-9]+ ){4}[-*/,0-9]+"), "timeZone": re.compile("[A-Za-z]+/[A-Za-z_]+"),
            "concurrencyPolicy": re.compile("Allow|Forbid|Replace"), "startingDeadlineSeconds": int,
            "jobTemplate": {"spec": {"backoffLimit": int, "template": TEMPLATE}}}},
    "Deployment": {
        "apiVersion": re.compile("apps/v1"), "kind": str, "metadata": METADATA, "spec": {
            "replicas": int, "selector": {"matchLabels": {str: str}}, "template": TEMPLATE}},
}


def check(value, known, where):
    """All that is there is known, and of its kind."""
    if isinstance(known, re.Pattern):
        good = isinstance(value, str) and known.fullmatch(value)
    elif isinstance(known, list):
        good = isinstance(value, list) and value
        for i, each in enumerate(value if good else ()):
            check(each, known[0], f"{where}[{i}]")
    elif isinstance(known, dict):
        good = isinstance(value, dict) and value
        for key, each in (value if good else {}).items():
            assert key in known or str in known, f"{where}.{key}: unknown"
            check(each, known.get(key, known.get(str)), f"{where}.{key}")
    else:
        good = type(value) is known
    assert good, f"{where}: {value!r}"


def template_of(manifest):
    """The pod's; what one part says of another is true."""
    spec = manifest["spec"]
    if manifest["kind"] == "CronJob":
        template = spec["jobTemplate"]["spec"]["template"]
        assert template["spec"]["restartPolicy"] != "Always", "a job's pod has an end"
    else:
        template = spec["template"]
        assert template["spec"].get("restartPolicy", "Always") == "Always", "a deployment's pod has none"
        assert spec["selector"]["matchLabels"] == template["metadata"]["labels"], "selector: other pods"
    return template["spec"]


def main(file, secrets, server):
    with open(file, encoding="utf-8") as text:
        manifest = yaml.safe_load(text)
    check(manifest, KNOWN[manifest["kind"]], manifest["kind"])
    pod = template_of(manifest)
    container, = pod["containers"]
    mount, = container["volumeMounts"]
    volume, = pod["volumes"]
    assert mount["name"] == volume["name"], "volumeMounts: no such volume"
    environment = {each["name"]: each["value"].replace(mount["mountPath"], secrets) for each in container["env"]}
    assert environment["RLOCK_SERVER"].startswith("rediss://")
    os.execvpe(container["command"][0], container["command"], {**os.environ, **environment, "RLOCK_SERVER": server})


main(*sys.argv[1:])
