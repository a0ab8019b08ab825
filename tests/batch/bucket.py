# SPDX-License-Identifier: MIT
"""A server of buckets for tests: S3 as GDAL uses it, with objects in memory; or, with forward_to, what
lies between GDAL and another server of S3.  Both keep a log of requests and let chosen ones fail."""
import hashlib
import http.client
import http.server
import re
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape


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
        if store.forward_to:
            self.forward(store.forward_to)
            return
        with store.lock:
            self.serve(store)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def forward(self, port):
        other = http.client.HTTPConnection("127.0.0.1", port)
        other.request(self.command, self.path, self.body,
                      {name: value for name, value in self.headers.items()
                       if name.lower() not in ("expect", "connection")})
        got = other.getresponse()
        kept = {name: value for name, value in got.getheaders()
                if name.lower() in ("etag", "content-type", "content-range", "last-modified")}
        body = got.read()
        kept["Content-Length"] = got.getheader("Content-Length") or str(len(body))
        self.answer(got.status, body, **{name.replace("-", "_"): value
                                         for name, value in kept.items()})
        other.close()

    def serve(self, store):
        bucket, _, key = self.name.partition("/")
        upload = self.query.get("uploadId")
        if bucket not in store.buckets:
            self.error(404, "NoSuchBucket")
        elif upload and upload not in store.uploads:
            self.error(404, "NoSuchUpload")
        elif self.command in ("GET", "HEAD"):
            self.read(store, bucket, key)
        elif self.command == "PUT" and upload:
            store.uploads[upload][1][int(self.query["partNumber"])] = self.body
            self.answer(200, ETag='"%s"' % hashlib.md5(self.body).hexdigest())
        elif self.command == "PUT":
            self.keep(store, self.body)
            self.answer(200, ETag='"%s"' % hashlib.md5(self.body).hexdigest())
        elif self.command == "POST" and upload:
            name, parts = store.uploads.pop(upload)
            self.keep(store, b"".join(parts[i] for i in sorted(parts)))
            self.xml("CompleteMultipartUploadResult", f"<Key>{escape(name)}</Key>")
        elif self.command == "POST":
            upload = f"upload{len(store.log)}"
            store.uploads[upload] = (self.name, {})
            self.xml("InitiateMultipartUploadResult", f"<UploadId>{upload}</UploadId>")
        elif upload:
            del store.uploads[upload]
            self.answer(204)
        else:
            store.objects.pop(self.name, None)
            self.answer(204)

    def keep(self, store, body):
        store.objects[self.name] = body

    def read(self, store, bucket, key):
        if "uploads" in self.query:
            prefix = f"{bucket}/{self.query.get('prefix', '')}"
            found = "".join(f"<Upload><Key>{escape(name.partition('/')[2])}</Key>"
                            f"<UploadId>{number}</UploadId></Upload>"
                            for number, (name, _) in store.uploads.items()
                            if name.startswith(prefix))
            self.xml("ListMultipartUploadsResult", found + "<IsTruncated>false</IsTruncated>")
        elif not key:
            self.list(store, bucket)
        elif self.name not in store.objects:
            self.error(404, "NoSuchKey")
        else:
            self.send(store.objects[self.name])

    def list(self, store, bucket):
        prefix, end = self.query.get("prefix", ""), self.query.get("delimiter")
        found, folders = "", set()
        for name, body in sorted(store.objects.items()):
            key = name.partition("/")[2]
            if not name.startswith(f"{bucket}/{prefix}"):
                continue
            rest = key[len(prefix):]
            if end and end in rest:
                folders.add(prefix + rest.partition(end)[0] + end)
            else:
                found += (f"<Contents><Key>{escape(key)}</Key><Size>{len(body)}</Size>"
                          "<LastModified>2026-11-01T00:00:00.000Z</LastModified></Contents>")
        found += "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
                         for name in sorted(folders))
        self.xml("ListBucketResult", f"<Prefix>{escape(prefix)}</Prefix>{found}"
                 "<IsTruncated>false</IsTruncated>")

    def send(self, body):
        asked = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        facts = {"ETag": '"%s"' % hashlib.md5(body).hexdigest(), "Accept_Ranges": "bytes",
                 "Last_Modified": "Sun, 01 Nov 2026 00:00:00 GMT"}
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


class Buckets(http.server.ThreadingHTTPServer):
    """fault(method, name, query) returns None, an HTTP status, "drop" or "slow"."""

    def __init__(self, buckets, forward_to=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.buckets, self.objects, self.uploads = set(buckets), {}, {}
        self.log, self.fault, self.forward_to = [], None, forward_to
        self.lock = threading.RLock()
        self.daemon_threads = True
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_): # a client that was killed
        pass

    def ask(self, method, path):
        """Status and body of a request that neither fails nor counts."""
        own = http.client.HTTPConnection("127.0.0.1", self.forward_to or self.server_address[1])
        fault, self.fault = self.fault, None
        own.request(method, path, headers={
            "Authorization": "AWS4-HMAC-SHA256 Credential=a/20261101/us-east-1/s3/aws4_request"})
        got = own.getresponse()
        body = got.read()
        own.close()
        self.fault = fault
        return got.status, body

    def names(self, bucket):
        """The keys of all objects."""
        return re.findall(r"<Key>([^<]*)</Key>", self.ask("GET", f"/{bucket}?prefix=")[1].decode())

    def pending(self, bucket):
        """The keys of uploads that are neither complete nor aborted."""
        return re.findall(r"<Key>([^<]*)</Key>", self.ask("GET", f"/{bucket}?uploads")[1].decode())

    def content(self, bucket, key):
        status, body = self.ask("GET", f"/{bucket}/{urllib.parse.quote(key)}")
        return body if status == 200 else None
