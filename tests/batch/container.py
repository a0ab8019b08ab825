# SPDX-License-Identifier: MIT
"""A server of containers for tests: Azure's blobs as GDAL uses them, in memory, below the account
"account".  An append blob, which would be visible while it grows, is an error of the test."""
import re
import urllib.parse
from xml.sax.saxutils import escape, unescape

import object_server

ACCOUNT = "account"


class Handler(object_server.Handler):
    def serve(self, store):
        account, _, self.name = self.name.partition("/")
        container, _, key = self.name.partition("/")
        comp = self.query.get("comp")
        if account != ACCOUNT or container not in store.buckets:
            self.error(404, "ContainerNotFound")
        elif comp == "list":
            self.list(store, container)
        elif not key:
            self.answer(200)
        elif self.command == "PUT" and comp in ("block", "blocklist"):
            self.put_blocks(store, comp)
        elif self.command == "PUT":
            self.put_blob(store)
        elif self.name not in store.objects:
            self.error(404, "BlobNotFound")
        elif self.command == "DELETE":
            del store.objects[self.name]
            store.appended.discard(self.name)
            self.answer(202)
        else:
            self.send(store.objects[self.name], x_ms_blob_type="AppendBlob"
                      if self.name in store.appended else "BlockBlob")

    def put_blob(self, store):
        if self.headers.get("x-ms-blob-type") != "BlockBlob":
            self.error(409, "NoAppendBlobs")
        elif self.name in store.appended:
            self.error(409, "InvalidBlobType")
        else:
            store.uploads.pop(self.name, None)
            store.objects[self.name] = self.body
            self.answer(201)

    def put_blocks(self, store, comp):
        blocks = store.uploads.get(self.name, {})
        if self.name in store.appended:
            self.error(409, "InvalidBlobType")
        elif comp == "block":
            store.uploads.setdefault(self.name, {})[self.query["blockid"]] = self.body
            self.answer(201)
        else:
            wanted = [unescape(name)
                      for name in re.findall("<Latest>([^<]*)</Latest>", self.body.decode())]
            if not wanted or any(name not in blocks for name in wanted):
                self.error(400, "InvalidBlockList")
                return
            store.objects[self.name] = b"".join(blocks[name] for name in wanted)
            del store.uploads[self.name]
            self.answer(201)

    def list(self, store, container):
        found, folders = self.listed(store, container)
        prefix = escape(self.query.get("prefix", ""))
        self.xml("EnumerationResults", f"<Prefix>{prefix}</Prefix><Blobs>" + "".join(
            f"<Blob><Name>{escape(key)}</Name><Properties><Content-Length>{len(body)}</Content-Length>"
            "<Last-Modified>Sun, 01 Nov 2026 00:00:00 GMT</Last-Modified></Properties></Blob>"
            for key, body in found) + "".join(
            f"<BlobPrefix><Name>{escape(name)}</Name></BlobPrefix>" for name in folders)
            + "</Blobs><NextMarker/>")


class Containers(object_server.Store):
    def __init__(self, containers):
        super().__init__(Handler, containers)
        self.appended = set() # names of append blobs

    def ask(self, method, path):
        return super().ask(method, f"/{ACCOUNT}{path}")

    def names(self, container):
        return [name.partition("/")[2] for name in self.objects if name.startswith(container + "/")]

    def pending(self, container):
        """Azure itself discards blocks that no list names: a killed upload has nothing to clean."""
        return []

    def content(self, container, key):
        status, body = self.ask("GET", f"/{container}/{urllib.parse.quote(key)}")
        return body if status == 200 else None
