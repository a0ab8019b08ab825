# SPDX-License-Identifier: MIT
"""What servers of object storage for tests share: objects in memory, a log of requests, and requests
that fail as a test wants.  bucket.py is one of S3, container.py one of Azure."""
import hashlib
import http.client
import http.server
import re
import threading
import time
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code):
        self.answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode(),
                    Content_Type="application/xml")

    def xml(self, root, inside):
        self.answer(200, f'<?xml version="1.0"?><{root}>{inside}</{root}>'.encode(),
                    Content_Type="application/xml")

    def pass_on(self, store):
        with store.lock:
            self.serve(store)

    def listed(self, store, bucket):
        """The objects and the folders that a request for a list asks for."""
        prefix, end = self.query.get("prefix", ""), self.query.get("delimiter")
        found, folders = [], set()
        for name, body in sorted(store.objects.items()):
            key = name.partition("/")[2]
            if not name.startswith(f"{bucket}/{prefix}"):
                continue
            rest = key[len(prefix):]
            if end and end in rest:
                folders.add(prefix + rest.partition(end)[0] + end)
            else:
                found.append((key, body))
        return found, sorted(folders)

    def handle_one(self):
        store = self.server
        url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.name = urllib.parse.unquote(url.path).lstrip("/")
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with store.lock:
            store.log.append((self.command, self.name, self.query))
            fault = store.fault(self.command, self.name, self.query) if store.fault else None
        if fault == "drop":
            self.close_connection = True
            return
        if fault == "slow":
            time.sleep(0.5)
        elif fault:
            self.error(fault, {403: "AccessDenied"}.get(fault, "InternalError"))
            return
        self.pass_on(store)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def send(self, body, **more):
        asked = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        facts = {"ETag": '"%s"' % hashlib.md5(body).hexdigest(), "Accept_Ranges": "bytes",
                 "Last_Modified": "Sun, 01 Nov 2026 00:00:00 GMT", **more}
        if self.command == "HEAD":
            self.answer(200, Content_Length=str(len(body)), **facts)
        elif not asked:
            self.answer(200, body, **facts)
        else:
            first, last = int(asked[1]), min(int(asked[2] or len(body)), len(body) - 1)
            self.answer(206, body[first:last + 1],
                        Content_Range=f"bytes {first}-{last}/{len(body)}", **facts)

    def log_message(self, *_):
        pass


class Store(http.server.ThreadingHTTPServer):
    """fault(method, name, query) returns None, an HTTP status, "drop" or "slow"."""
    headers = {}

    def __init__(self, handler, buckets):
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]
        self.buckets, self.objects, self.uploads = set(buckets), {}, {}
        self.log, self.fault = [], None
        self.lock = threading.RLock()
        self.daemon_threads = True
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_): # a client that was killed
        pass

    def ask(self, method, path):
        """Status and body of a request that neither fails nor counts."""
        own = http.client.HTTPConnection("127.0.0.1", self.port)
        fault, self.fault = self.fault, None
        own.request(method, path, headers=self.headers)
        got = own.getresponse()
        body = got.read()
        own.close()
        self.fault = fault
        return got.status, body
