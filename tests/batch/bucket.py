# SPDX-License-Identifier: MIT
"""A server of buckets for tests: S3 as GDAL uses it, with objects in memory; or, with forward_to, what
lies between GDAL and another server of S3.  Both keep a log of requests and let chosen ones fail."""
import hashlib
import http.client
import re
import urllib.parse
from xml.sax.saxutils import escape

import object_server


class Handler(object_server.Handler):
    def pass_on(self, store):
        if store.forward_to:
            self.forward(store.forward_to)
        else:
            super().pass_on(store)

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
        found, folders = self.listed(store, bucket)
        self.xml("ListBucketResult", f"<Prefix>{escape(self.query.get('prefix', ''))}</Prefix>" + "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(body)}</Size>"
            "<LastModified>2026-11-01T00:00:00.000Z</LastModified></Contents>"
            for key, body in found) + "".join(
            f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"
            for name in folders) + "<IsTruncated>false</IsTruncated>")


class Buckets(object_server.Store):
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20261101/us-east-1/s3/aws4_request"}

    def __init__(self, buckets, forward_to=None):
        super().__init__(Handler, buckets)
        self.forward_to = forward_to
        self.port = forward_to or self.port

    def names(self, bucket):
        """The keys of all objects."""
        return re.findall(r"<Key>([^<]*)</Key>", self.ask("GET", f"/{bucket}?prefix=")[1].decode())

    def pending(self, bucket):
        """The keys of uploads that are neither complete nor aborted."""
        return re.findall(r"<Key>([^<]*)</Key>", self.ask("GET", f"/{bucket}?uploads")[1].decode())

    def content(self, bucket, key):
        status, body = self.ask("GET", f"/{bucket}/{urllib.parse.quote(key)}")
        return body if status == 200 else None
