# SPDX-License-Identifier: MIT
"""storage.py QFZ ranks|alone|moto|azure [SEED]: outputs in a bucket.  They equal local outputs; none
appears before it is whole, whatever fails; what an upload leaves behind is discarded; a killed job resumes.
alone, ranks: a server of S3 of the tests' own; moto: that of the Python package moto; azure: a server
of Azure's blobs of the tests' own."""
import base64
import logging
import os
import pathlib
import shutil
import signal
import sys
import time

from bucket import Buckets
from container import ACCOUNT, Containers
from batch import (Test, content, in_phase, need, on_ranks, patches, ranks_of, run, start,
                   write_raster)

need("gdal_translate", "gdalinfo")
WAY = sys.argv[2]
RANKS = on_ranks(sys.argv)
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)
B = "my-bucket"
AZURE = WAY == "azure"
SYSTEM, BUCKET, KEYS = (("/vsiaz/", "container", "AZURE_STORAGE_CONNECTION_STRING") if AZURE else
                        ("/vsis3/", "bucket", "AWS_SECRET_ACCESS_KEY"))
FOLDER = f"{SYSTEM}{B}/maps"


def server():
    if AZURE:
        return Containers([B])
    if WAY != "moto":
        return Buckets([B])
    os.environ["S3_UPLOAD_PART_MIN_SIZE"] = "1"
    try:
        from moto.server import ThreadedMotoServer
    except ImportError:
        test.skip(f"{sys.executable} has no package moto with its server (pip install moto[server])")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    store = Buckets([], moto.get_host_and_port()[1])
    test.check(store.ask("PUT", f"/{B}")[0] == 200, "moto makes no bucket")
    return store


store = server()
CONNECTION = (f"BlobEndpoint=http://127.0.0.1:{store.server_address[1]}/{ACCOUNT};AccountName={ACCOUNT};"
              f"AccountKey={base64.b64encode(b'key').decode()}")
os.environ.update({"AZURE_STORAGE_CONNECTION_STRING": CONNECTION,
                   "AWS_S3_ENDPOINT": f"127.0.0.1:{store.server_address[1]}", "AWS_HTTPS": "NO",
                   "AWS_VIRTUAL_HOSTING": "FALSE", "AWS_ACCESS_KEY_ID": "a", "no_proxy": "*",
                   "AWS_SECRET_ACCESS_KEY": "b", "AWS_CONFIG_FILE": "none", "TMPDIR": os.getcwd(),
                   "GDAL_HTTP_RETRY_DELAY": "0.02",
                   "CPL_GS_ENDPOINT": f"http://127.0.0.1:{store.server_address[1]}/",
                   "GS_ACCESS_KEY_ID": "a", "GS_SECRET_ACCESS_KEY": "b", "CPL_AWS_CREDENTIALS_FILE": "none",
                   "AWS_EC2_METADATA_DISABLED": "TRUE", "CPL_AWS_AUTODETECT_EC2": "NO"})
ZERO = ["label", "-q", "--allow-network", "--tile", "64", "-j", "1"]
LABEL = [*ZERO, "--alpha", "2"]
PLAIN = ["-co", "COMPRESS=NONE", "--config", "VSIS3_CHUNK_SIZE=1", "--config", "VSIAZ_CHUNK_SIZE=1"] # five parts, 4.2 MB


def job(*words, status=0, before=()):
    """Runs a command; returns what it printed."""
    got, _, err = run([*before, test.qfz, *words])
    test.check(got == status, f"{' '.join(words)}: status {got}, not {status}: {err}")
    return err


def fetched(key):
    """A local copy of an object; or None."""
    body = store.content(B, "maps/" + key)
    if test.check(body is not None, f"{key}: no such object"):
        with open("fetched-" + os.path.basename(key), "wb") as out:
            out.write(body)
        return "fetched-" + os.path.basename(key)
    return None


def same(key, local):
    got = fetched(key)
    if got:
        test.check(content(got) == content(local), f"{key}: differs from {local}")


def clean(what, *keys):
    """The bucket holds these objects and nothing else, and the folder no temporary file."""
    names = store.names(B)
    test.check(sorted(names) == sorted("maps/" + key for key in keys), f"{what}: objects {names}")
    test.check(not store.pending(B), f"{what}: pending uploads {store.pending(B)}")
    left = [name for folder in (".", "work", "killed") if os.path.isdir(folder)
            for name in os.listdir(folder) if ".qfz-" in name]
    test.check(not left, f"{what}: left behind: {left}")


def empty():
    for name in store.names(B):
        store.ask("DELETE", f"/{B}/{name}")


def part(number):
    """A test for the request that sends this part."""
    field, value = ("blockid", f"{number:012}") if AZURE else ("partNumber", str(number))
    return lambda method, name, query: method == "PUT" and query.get(field) == value


def completes(method, name, query):
    """The request that makes an object of its parts."""
    return query.get("comp") == "blocklist" if AZURE else method == "POST" and "uploadId" in query


def fail(what, how, times=10**9):
    left = [times]

    def fault(method, name, query):
        if not what(method, name, query) or not left[0]:
            return None
        left[0] -= 1
        return how
    store.fault = fault


def refused():
    """What is refused before it begins."""
    store.log.clear()
    err = job("label", "src.tif", f"{FOLDER}/a.tif", status=1)
    test.check("--allow-network" in err and not store.log, f"without --allow-network: {err}")
    err = job(*LABEL, "src.tif", "/vsicurl/http://127.0.0.1/a.tif", status=1)
    test.check(SYSTEM in err, err)
    err = job(*LABEL, "src.tif", f"{SYSTEM}{B}", status=1)
    test.check(f"{BUCKET.upper()}/KEY" in err, err)
    err = job(*LABEL, "src.tif", f"{SYSTEM}other/maps/a.tif", status=1)
    test.check(f"{BUCKET} other, key maps/a.tif" in err and any(
        words in err for words in ("does not exist", "NoSuchBucket", "404")), err)
    err = job(*LABEL, "--config", f"{KEYS}=", "src.tif", f"{FOLDER}/a.tif", status=1)
    test.check(KEYS in err and "credentials" in err, err)
    os.environ["TMPDIR"] = "/missing"
    err = job(*LABEL, "src.tif", f"{FOLDER}/a.tif", status=1)
    test.check("the folder /missing" in err and "TMPDIR or --work" in err, err)
    os.environ["TMPDIR"] = os.getcwd()
    fail(lambda method, name, query: method == "PUT", 403)
    err = job(*LABEL, "src.tif", f"{FOLDER}/a.tif", status=1)
    test.check(f"{BUCKET} {B}, key maps/a.tif" in err and "right to write" in err, err)
    store.fault = None
    clean("refused")


def append_blob():
    """An append blob cannot be replaced in one request: GDAL would delete it first."""
    store.objects[f"{B}/maps/a.tif"] = b"old"
    store.appended.add(f"{B}/maps/a.tif")
    err = job(*LABEL, "--overwrite", "src.tif", f"{FOLDER}/a.tif", status=1)
    test.check("append blob" in err and "delete" in err, err)
    test.check(store.objects[f"{B}/maps/a.tif"] == b"old", "the append blob is gone")
    empty()
    job(*LABEL, *PLAIN, "src.tif", f"{FOLDER}/a.tif")
    same("a.tif", "whole.tif")
    empty()


def sizes():
    """A file of each size that GDAL treats in another way: one buffer of 4 MB, 8 MB, 16 MB."""
    for n, name in ((1022, "b"), (1024, "c"), (1026, "d"), (2048, "e"), (3000, "f")):
        write_raster("sized.tif", patches(test.random, n, 512), n, [])
        words = [*ZERO, "-ot", "UInt64", "-co", "COMPRESS=NONE", "-co", "TILED=NO", "sized.tif"]
        job(*words, f"local-{name}.tif")
        job(*words, f"{FOLDER}/{name}.tif")
        with open(f"local-{name}.tif", "rb") as local:
            test.check(store.content(B, f"maps/{name}.tif") == local.read(), f"{n} columns differ")
    test.check(not any(query.get("comp") == "appendblock" for _, _, query in store.log),
               "a file was appended")
    empty()


def whole():
    """One object, in several parts and in one; names that are taken."""
    store.log.clear()
    job(*LABEL, *PLAIN, "src.tif", f"{FOLDER}/a.tif")
    test.check(sum(part(2)(*line) for line in store.log) == 1, "the upload has no second part")
    same("a.tif", "whole.tif")
    err = job(*LABEL, "src.tif", f"{FOLDER}/a.tif", status=1)
    test.check("--overwrite" in err, err)
    store.ask("PUT", f"/{B}/maps/a.tif.ovr")
    job(*ZERO, "--overwrite", "src.tif", f"{FOLDER}/a.tif")
    job(*ZERO, "src.tif", "zero.tif")
    same("a.tif", "zero.tif")
    clean("whole", "a.tif")
    empty()


def google():
    """The same requests under the names of Google Cloud Storage."""
    gs = f"/vsigs/{B}/maps/g.tif"
    job(*LABEL, *PLAIN, "--config", "VSIGS_CHUNK_SIZE=1", "src.tif", gs)
    same("g.tif", "whole.tif")
    fail(part(2), 403)
    err = job(*LABEL, *PLAIN, "--config", "VSIGS_CHUNK_SIZE=1", "--overwrite", "src.tif", gs,
              status=1)
    test.check(f"bucket {B}, key maps/g.tif" in err and "GS_ACCESS_KEY_ID" in err, err)
    store.fault = None
    same("g.tif", "whole.tif")
    clean("google", "g.tif")
    empty()


def kinds():
    """All kinds of outputs of one job."""
    names = {"--regions": "r.csv", "--neighbours": "n.csv", "--colors": "c.tif",
             "--quicklook": "q.png", "--polygons": "p.gpkg"}

    def words(folder):
        extra = [word for option, name in names.items() for word in (option, folder + name)]
        return [*LABEL, *extra, "-of", "COG", "--overviews", "mode", "src.tif", folder + "l.tif"]
    os.mkdir("local")
    job(*words("local/"))
    job(*words(FOLDER + "/"))
    for name in ("r.csv", "n.csv", "c.tif", "l.tif"):
        same(name, "local/" + name)
    with open("local/q.png", "rb") as picture:
        test.check(store.content(B, "maps/q.png") == picture.read(), "the quicklook differs")
    rows = [run(["ogrinfo", "-ro", "-al", path])[1].splitlines()[2:]
            for path in (fetched("p.gpkg"), "local/p.gpkg")]
    test.check(len(rows[0]) > 20 and rows[0] == rows[1], "the polygons differ")
    clean("kinds", "l.tif", *names.values())
    empty()


def parts():
    """A VRT over parts: of one process, of phases, and over older parts of another number."""
    job(*LABEL, "src.tif", f"{FOLDER}/v.vrt")
    test.check(content(f"{FOLDER}/v.vrt") == content("whole.tif"), "v.vrt differs")
    clean("a VRT", "v.vrt", "v.parts/v-001-of-001.tif")
    words = ["qfz", *LABEL, "--overwrite", "src.tif", f"{FOLDER}/v.vrt"]
    for name, n in (("summarise", 2), ("stitch", 0), ("resolve", 2)):
        for i in range(1, n + 1) if n else [0]:
            job(*in_phase(words, name, "work", i, n)[1:])
    test.check(content(f"{FOLDER}/v.vrt") == content("whole.tif"), "v.vrt of phases differs")
    clean("phases", "v.vrt", "v.parts/v-001-of-002.tif", "v.parts/v-002-of-002.tif")
    empty()
    err = job(*in_phase(["qfz", *LABEL, "--merge", "src.tif", f"{FOLDER}/m.tif"], "summarise",
                        "merging", 1, 2)[1:], status=1)
    test.check(".vrt" in err, err)


def documented():
    """The commands of the page, as they stand."""
    page = pathlib.Path(__file__).resolve().parents[2] / "docs/user/object-storage.md"
    lines = [line.split() for line in page.read_text().splitlines()
             if line.startswith("    qfz ")]
    test.check(len(lines) == 2, f"{page}: {len(lines)} commands")
    shutil.copy("src.tif", "scene.tif")
    job("label", "--distance", "linf", "--alpha", "8", "src.tif", "documented.tif")
    for words in lines:
        job(*words[1:])
        test.check(content(words[-1]) == content("documented.tif"), f"{words[-1]} differs")
    clean("documented", "labels.tif", "r.csv", "labels.vrt", "labels.parts/labels-001-of-001.tif")
    empty()


def by_ranks():
    """Each rank uploads its part."""
    for n in (2, 3):
        job(*LABEL, "--overwrite", "src.tif", f"{FOLDER}/v.vrt", before=ranks_of(n))
        test.check(content(f"{FOLDER}/v.vrt") == content("whole.tif"), f"{n} ranks: differs")
        clean(f"{n} ranks", "v.vrt", *(f"v.parts/v-00{i + 1}-of-00{n}.tif" for i in range(n)))
    empty()
    more = [("--neighbours", "n.csv"), ("--quicklook", "q.png")]
    job(*LABEL, *(word for pair in more for word in pair), "src.tif", "more.tif")
    job(*LABEL, *(word for option, name in more for word in (option, f"{FOLDER}/{name}")),
        "src.tif", f"{FOLDER}/v.vrt", before=ranks_of(2))
    for _, name in more:
        with open(name, "rb") as local:
            test.check(store.content(B, "maps/" + name) == local.read(), f"{name} of ranks differs")
    empty()
    err = job(*LABEL, "--regions", f"{FOLDER}/r.csv", "src.tif", f"{FOLDER}/v.vrt", status=1,
              before=ranks_of(2))
    test.check("qfz regions" in err, err)
    fail(lambda method, name, query: method == "PUT" and "002-of-002" in name, 403)
    err = job(*LABEL, "src.tif", f"{FOLDER}/v.vrt", status=1, before=ranks_of(2))
    test.check("v-002-of-002.tif" in err, err)
    store.fault = None
    clean("a part refused")


def faults():
    """Requests that fail once, and requests that fail always."""
    for what, how, times in ((part(2), 500, 1), (part(1), "drop", 1), (part(3), 503, 2),
                             (completes, 500, 1), (completes, "drop", 1), (part(2), "slow", 1)):
        fail(what, how, times)
        job(*LABEL, *PLAIN, "src.tif", f"{FOLDER}/a.tif")
        same("a.tif", "whole.tif")
        clean(f"{how} {times} times", "a.tif")
        empty()
    job(*ZERO, "src.tif", f"{FOLDER}/a.tif")
    old = store.content(B, "maps/a.tif")
    for what, how, where in ((part(2), 500, "after"), (part(5), "drop", "its upload failed"),
                             (completes, 403, "after" if AZURE else "last part")):
        fail(what, how)
        err = job(*LABEL, *PLAIN, "--retries", "1", "--overwrite", "--regions", f"{FOLDER}/r.csv",
                  "src.tif", f"{FOLDER}/a.tif", status=1)
        test.check(f"{BUCKET} {B}, key maps/" in err and where in err, err)
        store.fault = None
        test.check(store.content(B, "maps/a.tif") == old, f"{how}: the old object is gone")
        clean(f"always {how}", "a.tif")
    fail(lambda method, name, query: method == "PUT" and name.endswith("maps/r.csv"), 403)
    err = job(*LABEL, *PLAIN, "--overwrite", "--regions", f"{FOLDER}/r.csv", "src.tif",
              f"{FOLDER}/a.tif", status=1)
    test.check("key maps/r.csv" in err, err)
    store.fault = None
    test.check(store.content(B, "maps/a.tif") == old, "the table failed: the old raster is gone")
    clean("the table failed", "a.tif")
    empty()


def ended():
    """A job that ends while it uploads leaves no object; it resumes from its journal."""
    words = [*LABEL, *PLAIN, "--work", "killed", "--resume", "src.tif", f"{FOLDER}/a.tif"]
    for number in (signal.SIGTERM, signal.SIGKILL):
        fail(lambda method, name, query: "uploadId" in query or "comp" in query, "slow")
        store.log.clear()
        process = start([test.qfz, *words])
        for _ in range(200):
            if any(part(2)(*line) for line in list(store.log)):
                break
            time.sleep(0.05)
        process.send_signal(number)
        process.wait(20)
        store.fault = None
        test.check(not store.names(B), f"{number}: objects {store.names(B)}")
        if number == signal.SIGTERM:
            clean("SIGTERM")
    job(*words)
    same("a.tif", "whole.tif")
    clean("resumed", "a.tif")
    job(*words)
    fail(part(2), 403)
    err = job(*words[:-1], f"{FOLDER}/b.tif", status=1)
    test.check("another job" in err or "differ" in err or "work" in err, err)
    store.fault = None
    empty()


write_raster("src.tif", patches(test.random, 700, 930), 700, ["-a_nodata", "0"])
job(*LABEL, *PLAIN, "src.tif", "whole.tif")
if RANKS:
    by_ranks()
else:
    for step in (refused, whole, *((append_blob, sizes) if AZURE else (google, documented)), kinds, parts,
                 faults, ended):
        began = time.monotonic()
        step()
        if "-v" in sys.argv: print(step.__name__, time.monotonic() - began)
store.shutdown()
test.finish()
