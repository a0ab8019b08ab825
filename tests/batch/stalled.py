# SPDX-License-Identifier: MIT
"""stalled.py QFZ ranks|alone [SEED]: on storage that has stopped responding, a signal still ends a job,
after 12 seconds and with status 75; when the storage is back, the job resumes."""
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time

from batch import (SKIP, Test, command, content, kill, need, on_ranks, patches, ranks_of,
                   ranks_under, run, write_raster)

need("gdal_translate", "gdalinfo")
if run(["gdalinfo", "--format", "HTTP"])[0] != 0:
    print("skipped: GDAL cannot read by HTTP")
    sys.exit(SKIP)
RANKS = on_ranks(sys.argv)
PATIENCE_S = 12
test = Test(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1)


class Storage(http.server.BaseHTTPRequestHandler):
    """One file, in pieces; who asks for its second half waits until `works`."""
    protocol_version = "HTTP/1.1"
    works, stalls = threading.Event(), threading.Event()
    pixels = b""

    def head(self, status, n_bytes, *more):
        self.send_response(status)
        for name, value in (*more, ("Accept-Ranges", "bytes"), ("Content-Length", n_bytes),
                            ("Last-Modified", "Sun, 01 Nov 2026 00:00:00 GMT")):
            self.send_header(name, str(value))
        self.end_headers()

    def do_HEAD(self):
        there = self.path == "/src.tif"
        self.head(200 if there else 404, len(self.pixels) if there else 0)

    def do_GET(self):
        asked = re.match(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if self.path != "/src.tif" or not asked:
            self.head(404, 0)
            return
        whole = len(self.pixels)
        first, last = int(asked[1]), min(int(asked[2]), whole - 1)
        if last > whole // 2:
            self.stalls.set()
            self.works.wait()
        self.head(206, last + 1 - first, ("Content-Range", f"bytes {first}-{last}/{whole}"))
        self.wfile.write(self.pixels[first:last + 1])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_): # whoever asked is there no more
        pass


def stopped(words):
    """Status, words and seconds of a job that gets SIGTERM when its source has stalled, and SIGUSR1
    while it still has time."""
    job = subprocess.Popen(words, stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    test.check(Storage.stalls.wait(30), "nobody asked for the second half")
    began = time.monotonic()
    kill(ranks_under(job.pid) or [job.pid], signal.SIGTERM)
    time.sleep(7)
    kill(ranks_under(job.pid) or [job.pid], signal.SIGUSR1)
    try:
        _, err = job.communicate(timeout=PATIENCE_S + 8)
    except subprocess.TimeoutExpired:
        kill([*ranks_under(job.pid), job.pid])
        _, err = job.communicate()
    return job.returncode, err, time.monotonic() - began


os.environ["no_proxy"] = "*"
write_raster("src.tif", patches(test.random, 330, 900), 330, ["-a_nodata", "0"])
with open("src.tif", "rb") as src:
    Storage.pixels = src.read()
server = Server(("127.0.0.1", 0), Storage)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"/vsicurl/http://127.0.0.1:{server.server_address[1]}/src.tif"
OPTIONS = ["--tile", "24", "-j", "1"]
work = ["--merge", "--work", "work", "--resume"]

before = ranks_of(3) if RANKS else []
line, outputs = command(test.qfz, "label", url, "out", ".tif", *OPTIONS, "--allow-network",
                        *work)
status, said, seconds = stopped([*before, *line])
ends = [text for text in said.splitlines() if text.startswith("qfz")]
test.check(status == 75 and PATIENCE_S - 1 < seconds < PATIENCE_S + 6,
           f"stalled: status {status} after {seconds:.1f} s: {said}")
test.check(ends == ["qfz: stopped in the middle of a step; --resume continues"], f"stalled: {said}")
test.check(not os.path.exists(outputs[0]), "stalled: an output")
Storage.works.set()
status, _, said = run([*before, *line])
test.check(status == 0, f"resumed: status {status}: {said}")
whole, wanted = command(test.qfz, "label", "src.tif", "whole", ".tif", *OPTIONS)
status, _, said = run(whole)
test.check(status == 0, f"whole: {said}")
test.compare(outputs, [content(path) for path in wanted], "resumed")
server.shutdown()
test.finish()
