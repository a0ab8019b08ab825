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

/* GDAL's file systems, all with names of seven characters. */
enum { PREFIX_N = 7, AZURE = 2 };
typedef struct store {
    const char *prefix, *bucket, *capital, *credentials;
} store;

static const store stores[] = {
    {"/vsis3/", "bucket", "BUCKET", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"},
    {"/vsigs/", "bucket", "BUCKET",
     "GOOGLE_APPLICATION_CREDENTIALS, or GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY"},
    {"/vsiaz/", "container", "CONTAINER",
     "AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_ACCESS_KEY or "
     "AZURE_STORAGE_SAS_TOKEN"},
};

/* NULL: no object's name. */
static const store *store_of(const char *path)
{
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++)
        if (strncmp(path, stores[i].prefix, PREFIX_N) == 0) return &stores[i];
    return NULL;
}

bool qfz_object_is(const char *path)
{
    return store_of(path) != NULL;
}

/* An append blob refuses blocks (409), and GDAL would delete it before it writes a small file. */
static qfz_status check_replaceable(const char *path, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    char **const facts = VSIGetFileMetadata(path, "HEADERS", NULL);
    qfz_error_trap_end(&trap);
    const bool appended =
        EQUAL(CSLFetchNameValueDef(facts, "x-ms-blob-type", "BlockBlob"), "AppendBlob");
    CSLDestroy(facts);
    if (!appended) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: it is an append blob, which Azure cannot replace in one request; delete "
                    "it, or name the output otherwise",
                    path);
}

qfz_status qfz_object_check(const qfz_output_options *options, const char *path, qfz_error *err)
{
    const store *const in = store_of(path);
    if (!qfz_network_is(path)) return QFZ_OK;
    if (!in)
        return qfz_fail(err, QFZ_EARG,
                        "%s: outputs over the network are written to /vsis3/, /vsigs/ and /vsiaz/ "
                        "only; write a local file and copy it",
                        path);
    const char *const bucket = path + PREFIX_N, *const key = strchr(bucket, '/');
    if (!key || key == bucket || !key[1])
        return qfz_fail(err, QFZ_EARG, "%s: name a %s and a key, as in %s%s/KEY", path, in->bucket,
                        in->prefix, in->capital);
    if (!options->allow_network)
        return qfz_fail(err, QFZ_EARG,
                        "%s: it would be written over the network; use --allow-network, or name a "
                        "local file",
                        path);
    return in == &stores[AZURE] ? check_replaceable(path, err) : QFZ_OK;
}

/* GDAL's text for why the bucket cannot be listed; "" if it can. */
static void ask_bucket(const char *path, const store *in, char *answer, size_t bytes)
{
    const size_t n = PREFIX_N + strcspn(path + PREFIX_N, "/");
    char *const name = CPLStrdup(CPLSPrintf("%.*s/", (int)n, path));
    VSIStatBufL found;
    VSIErrorReset();
    VSICurlPartialClearCache(name);
    const int bad = VSIStatExL(name, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_SET_ERROR_FLAG);
    const char *const why = VSIGetLastErrorMsg();
    (void)snprintf(answer, bytes, "%s", bad && why ? why : "");
    if (bad && !*answer) (void)snprintf(answer, bytes, "the %s was not found", in->bucket);
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

qfz_status qfz_object_fail(const char *path, const char *what, const char *why, qfz_error *err)
{
    const store *const in = store_of(path);
    if (!in) return qfz_fail(err, QFZ_EIO, "%s: %s%s%s", path, what, *why ? ": " : "", why);
    const char *const bucket = path + PREFIX_N;
    const int bucket_n = (int)strcspn(bucket, "/");
    char answer[160];
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    ask_bucket(path, in, answer, sizeof answer);
    qfz_error_trap_end(&trap);
    return qfz_fail(err, QFZ_EIO,
                    "%s: %s %.*s, key %s: %s%s%.160s%s%s; check the name of the %s, the right to "
                    "write to it, and GDAL's credentials (%s)",
                    path, in->bucket, bucket_n, bucket, bucket + bucket_n + 1, what,
                    *why ? ": " : "", why, *answer ? "; the storage answers: " : "", answer,
                    in->bucket, in->credentials);
}
