/* SPDX-License-Identifier: MIT */
/* object_store.h - outputs in object storage: /vsis3/, /vsigs/ and /vsiaz/ of GDAL.
 *
 * Such storage takes an object from its first byte to its last one and has no rename.  So an output
 * is made in a local folder and uploaded when it is complete (upload.h). */
#ifndef QFZ_RASTER_OBJECT_STORE_H
#define QFZ_RASTER_OBJECT_STORE_H

#include "raster/output.h"

/* True for a name of an object in a bucket of S3 or Google Cloud Storage, or in a container of
 * Azure.
 */
bool qfz_object_is(const char *path);

/* QFZ_EARG if an output of this name would be written over a network without
 * options->allow_network, to a file system that qfz does not write to, or over an append blob,
 * which Azure does not replace in one request. */
qfz_status qfz_object_check(const qfz_output_options *options, const char *path, qfz_error *err);

/* Discards the parts of uploads of this object, and of objects whose names begin with its name,
 * that killed processes have left. */
void qfz_object_clean(const char *path);

/* Returns QFZ_EIO with the message that `what` failed, with bucket (container) and key of path, why
 * (GDAL's message; "" is allowed), what the storage answers to a question for the bucket, and the
 * remedy.
 */
qfz_status qfz_object_fail(const char *path, const char *what, const char *why, qfz_error *err);

#endif
