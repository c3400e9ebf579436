#!/usr/bin/env python3
"""What a static program is made of, read from the linker's map and dpkg's lists: as SPDX 2.3, and the licences.

Leaves share/doc/rlock/rlock.spdx.json and share/doc/rlock/licenses/PACKAGE in the tree that the program is in.
"""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse

FIELDS = ("Package", "Version", "Architecture", "source:Package", "source:Version")


def said(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def linked(map_file):
    """Files of others that are in the program: archives of which something was taken, and what libc starts with."""
    text = pathlib.Path(map_file).read_text(encoding="utf-8")
    found = re.findall(r"^(/.*\.a)\(", text, re.M) + re.findall(r"^LOAD (/.*/crt[^/]*\.o)$", text, re.M)
    return sorted({os.path.normpath(path) for path in found})


class System:
    """What is installed here."""
    root = pathlib.Path("/")

    def owner(self, path):
        if not path.exists():
            return None
        package = said("dpkg", "-S", path).split(": ")[0]
        return said("dpkg-query", "-W", "-f", "\t".join(f"${{{field}}}" for field in FIELDS), package).split("\t")


class Sysroot:
    """What the script sysroot has unpacked."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.of = {}
        for package in self.root.glob("debs/*.deb"):
            shown = said("dpkg-deb", "--showformat", "\t".join(f"${{{field}}}" for field in FIELDS), "-W", package)
            for line in said("dpkg-deb", "-c", package).splitlines():
                self.of[self.root / line.split()[5].removeprefix("./")] = shown.split("\t")

    def owner(self, path):
        return self.of.get(path)


def packages(map_file, places):
    """{package: (its fields, the root of the tree that it lies in)}"""
    result = {}
    for path in linked(map_file):
        for place in places:
            fields = place.owner(pathlib.Path(path))
            if fields:
                result[fields[0]] = dict(zip(FIELDS, fields)), place.root
                break
        else:
            raise SystemExit(f"sbom.py: {path} is of no package")
    return result


def identifier(name):
    return "SPDXRef-Package-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def described(fields):
    version = urllib.parse.quote(fields["Version"])
    return {
        "SPDXID": identifier(fields["Package"]),
        "name": fields["Package"],
        "versionInfo": fields["Version"],
        "supplier": "Organization: Debian",
        "sourceInfo": f"built by Debian from {fields['source:Package']} {fields['source:Version']}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "comment": f"licenses/{fields['Package']}",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{fields['Package']}@{version}?arch={fields['Architecture']}",
        }],
    }


def document(options, found):
    program = pathlib.Path(options.tree, "bin/rlock").read_bytes()
    digest = hashlib.sha256(program).hexdigest()
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    ours = identifier("rlock")
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", ours)]
    relations += [(ours, "STATIC_LINK", identifier(name)) for name in found]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": options.name,
        "documentNamespace": f"urn:sha256:{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: rlock-sbom.py"]},
        "packages": [{
            "SPDXID": ours,
            "name": "rlock",
            "versionInfo": options.version,
            "packageFileName": "bin/rlock",
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0",
            "copyrightText": "NOASSERTION",
            "primaryPackagePurpose": "APPLICATION",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        }] + [described(fields) for fields, _ in found.values()],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in "name", "version", "tree", "map", "sysroot":
        parser.add_argument(f"--{option}", required=True)
    options = parser.parse_args()
    found = packages(options.map, [Sysroot(options.sysroot), System()])
    docs = pathlib.Path(options.tree, "share/doc/rlock")
    (docs / "licenses").mkdir(parents=True)
    for name, (_, root) in found.items():
        shutil.copyfile(root / "usr/share/doc" / name / "copyright", docs / "licenses" / name)
    with open(docs / "rlock.spdx.json", "w", encoding="utf-8") as file:
        json.dump(document(options, found), file, indent=2)
        file.write("\n")


main()
