/* SPDX-License-Identifier: MIT */
/* upload.h - a complete local file on its way to object storage.
 *
 * Large objects are uploaded in parts, and a last request completes them: until complete() no
 * object has the name, and an object that had the name before stays.  To Azure, complete() sends
 * the whole file, unless one request is enough for it: GDAL has no call between the two. */
#ifndef QFZ_RASTER_UPLOAD_H
#define QFZ_RASTER_UPLOAD_H

#include "core/retry.h"
#include "raster/sink.h"

typedef struct qfz_upload qfz_upload;

/* Sends the bytes of a local file.  A failed upload begins again, as retry says.  advance is called
 * with the share that is done; NULL: no reports.  *upload is for complete() and close(). */
qfz_status qfz_upload_send(qfz_upload **upload, const char *from, const char *to,
                           const qfz_retry *retry, qfz_advance_fn advance, void *arg,
                           qfz_error *err);

/* Gives the object its name, and compares its size with the file's.  Sends the file again if a
 * request fails, as retry says. */
qfz_status qfz_upload_complete(qfz_upload *upload, qfz_error *err);

/* Without complete(), no object appears, and the storage discards the parts.  NULL is allowed. */
void qfz_upload_close(qfz_upload *upload);

#endif
