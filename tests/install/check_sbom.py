# SPDX-License-Identifier: MIT
"""check_sbom.py DOCUMENT TREE PROGRAM... - the SPDX 2.3 document has what the specification requires, each
file of TREE with its checksum, and each library that a PROGRAM is linked with."""
import hashlib
import json
import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as text:
    document = json.load(text)
tree, programs = sys.argv[2], sys.argv[3:]
faults = []


def must(right, what):
    if not right:
        faults.append(what)


def has(thing, *keys):
    for key in keys:
        must(thing.get(key) not in (None, "", []), f"{thing.get('SPDXID')}: no {key}")


has(document, "spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo")
must(document.get("spdxVersion") == "SPDX-2.3" and document.get("dataLicense") == "CC0-1.0", "version or licence")
must(re.fullmatch(r"https://[^#]+", document.get("documentNamespace", "")), "the namespace is no URI")
must(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), "time of creation")
packages, files = document["packages"], document["files"]
for package in packages:
    has(package, "SPDXID", "name", "versionInfo", "downloadLocation", "licenseDeclared", "licenseConcluded")
names = [thing["SPDXID"] for thing in (document, *packages, *files)]
must(len(names) == len(set(names)), "an SPDXID is there twice")
for name in names:
    must(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name), f"{name}: no SPDXID")
for one in document["relationships"]:
    must({one["spdxElementId"], one["relatedSpdxElement"]} <= set(names), f"relation of what is not there: {one}")

sums = {}
for folder, _, there in os.walk(tree):
    for name in there:
        with open(os.path.join(folder, name), "rb") as content:
            sums["./" + os.path.relpath(os.path.join(folder, name), tree)] = hashlib.sha1(content.read()).hexdigest()
told = {entry["fileName"]: {c["algorithm"]: c["checksumValue"] for c in entry["checksums"]}.get("SHA1") for entry in files}
for name in sorted(set(sums) | set(told)):
    must(sums.get(name) == told.get(name), f"{name}: {told.get(name)} in the document, {sums.get(name)} in the tree")
code = hashlib.sha1("".join(sorted(sums.values())).encode()).hexdigest()
must(packages[0]["packageVerificationCode"]["packageVerificationCodeValue"] == code, "verification code")

linked = {one["relatedSpdxElement"] for one in document["relationships"] if one["relationshipType"] == "DYNAMIC_LINK"}
libraries = {package["name"] for package in packages if package["SPDXID"] in linked}
for program in programs:
    shown = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True).stdout
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", shown):
        must(name in libraries or name.startswith("ld-linux"), f"{program} is linked with {name}, which is missing")

print("\n".join(faults[:10]))
sys.exit(1 if faults else 0)
