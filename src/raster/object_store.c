/* SPDX-License-Identifier: MIT */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "raster/object_store.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <cpl_vsi_error.h>
#include <stdio.h>
#include <string.h>

#include "raster/error_trap.h"
#include "raster/network.h"

static const char *const prefixes[] = {"/vsis3/", "/vsigs/"};

/* The length of the file system's name; 0: no object's name. */
static size_t prefix_length(const char *path)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) return strlen(prefixes[i]);
    return 0;
}

bool qfz_object_is(const char *path)
{
    return prefix_length(path) > 0;
}

qfz_status qfz_object_check(const qfz_output_options *options, const char *path, qfz_error *err)
{
    const char *const bucket = path + prefix_length(path);
    if (!qfz_network_is(path)) return QFZ_OK;
    if (bucket == path)
        return qfz_fail(err, QFZ_EARG,
                        "%s: outputs over the network are written to /vsis3/ and /vsigs/ only; "
                        "write a local file and copy it",
                        path);
    const char *const key = strchr(bucket, '/');
    if (!key || key == bucket || !key[1])
        return qfz_fail(err, QFZ_EARG, "%s: name a bucket and a key, as in %.7sBUCKET/KEY", path,
                        path);
    if (options->allow_network) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: it would be written over the network; use --allow-network, or name a "
                    "local file",
                    path);
}

/* GDAL's text for why the bucket cannot be listed; "" if it can. */
static void ask_bucket(const char *path, char *answer, size_t bytes)
{
    const size_t n = prefix_length(path) + strcspn(path + prefix_length(path), "/");
    char *const name = CPLStrdup(CPLSPrintf("%.*s/", (int)n, path));
    VSIStatBufL found;
    VSIErrorReset();
    VSICurlPartialClearCache(name);
    const int bad = VSIStatExL(name, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_SET_ERROR_FLAG);
    const char *const why = VSIGetLastErrorMsg();
    (void)snprintf(answer, bytes, "%s", !bad ? "" : why && *why ? why : "the bucket was not found");
    VSIErrorReset();
    CPLFree(name);
}

void qfz_object_clean(const char *path)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    (void)VSIAbortPendingUploads(path);
    qfz_error_trap_end(&trap);
}

static const char *credentials_of(const char *path)
{
    if (strncmp(path, "/vsis3/", 7) == 0)
        return "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";
    return "GOOGLE_APPLICATION_CREDENTIALS, or GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY";
}

qfz_status qfz_object_fail(const char *path, const char *what, const char *why, qfz_error *err)
{
    const char *const bucket = path + prefix_length(path);
    const int bucket_n = (int)strcspn(bucket, "/");
    char answer[160];
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    ask_bucket(path, answer, sizeof answer);
    qfz_error_trap_end(&trap);
    return qfz_fail(err, QFZ_EIO,
                    "%s: bucket %.*s, key %s: %s%s%.160s%s%s; check the name of the bucket, the "
                    "right to write to it, and GDAL's credentials (%s)",
                    path, bucket_n, bucket, bucket + bucket_n + 1, what, *why ? ": " : "", why,
                    *answer ? "; the storage answers: " : "", answer, credentials_of(path));
}
