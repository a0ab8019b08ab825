#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sbom.py TREE BUILD TIME - prints an SPDX 2.3 document (JSON) of a release.

TREE: the files of the release, one folder.  BUILD: a build of it, whose command and library say what they
are linked with.  TIME: of the document, in seconds since 1970, so that the same release gives the same
document.  The versions of libraries are those of their Debian packages, where the machine has dpkg."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

TREE, BUILD, TIME = sys.argv[1], sys.argv[2], int(sys.argv[3])
UNKNOWN = "NOASSERTION"
PICTURES = (".jpg", ".png")  # may show data of others: docs/user/gallery.md names their sources

# Name of a library without lib and .so: project, licence, home.
LIBRARIES = {
    "gdal": ("GDAL", "MIT", "https://gdal.org"),
    "proj": ("PROJ", "MIT", "https://proj.org"),
    "z": ("zlib", "Zlib", "https://zlib.net"),
    "mpi": ("Open MPI", "BSD-3-Clause-Open-MPI", "https://www.open-mpi.org"),
    "gomp": ("GCC, libgomp", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
    "gcc_s": ("GCC, libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
    "stdc++": ("GCC, libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "https://gcc.gnu.org"),
    "omp": ("LLVM OpenMP", "Apache-2.0 WITH LLVM-exception", "https://openmp.llvm.org"),
    "c": ("GNU C Library", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc"),
    "m": ("GNU C Library, libm", "LGPL-2.1-or-later", "https://www.gnu.org/software/libc"),
}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def identifier(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def files_of_tree():
    """An entry for each file, in the order of names."""
    names = sorted(os.path.relpath(os.path.join(folder, name), TREE)
                   for folder, _, names in os.walk(TREE) for name in names)
    entries = []
    for number, name in enumerate(names):
        path = os.path.join(TREE, name)
        content = os.readlink(path).encode() if os.path.islink(path) else open(path, "rb").read()
        found = re.search(rb"SPDX-License-Identifier: ([A-Za-z0-9.+-]+)", content[:2000])
        given = found.group(1).decode() if found else UNKNOWN
        entries.append({
            "SPDXID": f"SPDXRef-File-{number}",
            "fileName": "./" + name,
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
            "licenseInfoInFiles": [given],
            "licenseConcluded": UNKNOWN if name.endswith(PICTURES) else given if found else "MIT",
            "copyrightText": UNKNOWN,
        })
    return entries


def verification_code(entries):
    sums = sorted(entry["checksums"][0]["checksumValue"] for entry in entries)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


def debian_version(path):
    """Name and version of the package that has the file, or two unknowns."""
    for name in (path, os.path.realpath(path), re.sub("^/usr", "", os.path.realpath(path))):
        package = run("dpkg-query", "-S", name).split(": ")[0]
        if package:
            return package.split(":")[0], run("dpkg-query", "-W", "-f", "${Version}", package)
    return UNKNOWN, UNKNOWN


def linked(program):
    """The libraries that the program names itself, each with its file on this machine."""
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", program))
    where = dict(re.findall(r"(\S+) => (\S+)", run("ldd", program)))
    return {name: where.get(name, "") for name in needed if not name.startswith("ld-linux")}


def library(name, path):
    project, licence, home = LIBRARIES.get(re.sub(r"^lib|\.so.*$", "", name), (name, UNKNOWN, UNKNOWN))
    package, version = debian_version(path) if path else (UNKNOWN, UNKNOWN)
    entry = {
        "SPDXID": identifier("Library", name),
        "name": name,
        "versionInfo": version,
        "supplier": UNKNOWN,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": licence,
        "copyrightText": UNKNOWN,
        "summary": f"{project}; Debian package {package}" if package != UNKNOWN else project,
    }
    if home != UNKNOWN:
        entry["homepage"] = home
    return entry


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def document():
    with open(os.path.join(TREE, "CMakeLists.txt"), encoding="utf-8") as text:
        version = re.search(r"project\(qfz VERSION ([0-9.]+)", text.read()).group(1)
    entries = files_of_tree()
    code = verification_code(entries)
    release = {
        "SPDXID": "SPDXRef-qfz", "name": "qfz", "versionInfo": version, "supplier": "Organization: The qfz authors",
        "downloadLocation": UNKNOWN, "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "licenseConcluded": "MIT", "licenseDeclared": "MIT",
        "licenseInfoFromFiles": sorted({licence for entry in entries for licence in entry["licenseInfoInFiles"]}),
        "copyrightText": "Copyright (c) 2026 The qfz authors",
        "hasFiles": [entry["SPDXID"] for entry in entries],
    }
    libraries = {}
    for program in ("libexec/qfz/qfz", "libqfz.so"):
        libraries.update(linked(os.path.join(BUILD, program)))
    if not libraries:
        sys.exit(f"sbom.py: {BUILD} has neither libexec/qfz/qfz nor libqfz.so, or readelf is missing")
    packages = [library(name, libraries[name]) for name in sorted(libraries)]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"qfz-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/qfz-{version}-{code}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(TIME, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": [f"Tool: qfz-sbom-{version}"]},
        "packages": [release, *packages],
        "files": entries,
        "relationships": [relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-qfz"),
                          *(relation("SPDXRef-qfz", "CONTAINS", entry["SPDXID"]) for entry in entries),
                          *(relation("SPDXRef-qfz", "DYNAMIC_LINK", entry["SPDXID"]) for entry in packages)],
    }


print(json.dumps(document(), indent=1, sort_keys=True))
