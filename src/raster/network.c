/* SPDX-License-Identifier: MIT */
#include "raster/network.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>
#include <string.h>

#include "raster/error_trap.h"
#include "raster/vrt_text.h"

enum { DEPTH_MAX = 64, OPENED_MAX = 100000, HEAD_BYTES = 64 };

/* A walk over the VRTs that a source names. */
typedef struct walk {
    const char *source;
    bool allowed;
    char **opened; /* NAME=N: a VRT that is known to be sound opens N VRTs, itself included */
    qfz_error *err;
} walk;

/* Names, and documents that GDAL opens as a service. */
static bool begins_a_service(const char *text)
{
    static const char *const services[] = {
        "http://", "https://", "ftp://", "WMS:",   "WMTS:",     "WCS:",      "WFS:",
        "OGCAPI:", "EEDA:",    "EEDAI:", "NGW:",   "DAAS:",     "PLMOSAIC:", "PLSCENES:",
        "STACIT:", "STACTA:",  "PG:",    "MYSQL:", "<GDAL_WMS", "<WCS_GDAL", "<GDAL_WMTS"};
    text += strspn(text, " \t\r\n");
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (EQUALN(text, services[i], strlen(services[i]))) return true;
    return false;
}

/* GDAL's file systems of networks may lie inside those of archives. */
static bool has_network_files(const char *name)
{
    static const char *const systems[] = {"/vsicurl",  "/vsis3",   "/vsigs",
                                          "/vsiaz",    "/vsiadls", "/vsioss",
                                          "/vsiswift", "/vsihdfs", "/vsiwebhdfs"};
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++)
        if (strstr(name, systems[i])) return true;
    return false;
}

bool qfz_network_is(const char *name)
{
    return begins_a_service(name) || (strncmp(name, "/vsi", 4) == 0 && has_network_files(name));
}

static qfz_status refuse(const walk *w, const char *name)
{
    return qfz_fail(w->err, QFZ_EARG,
                    "%s: %s%.200s would be read over the network; use --allow-network, or copy the "
                    "data first",
                    w->source, name == w->source ? "it" : "its source ",
                    name == w->source ? "" : name);
}

/* The names of rasters that are no VRTs, by their usual extensions, are not looked into: a mosaic
 * may have very many parts. */
static bool may_be_text(const char *name)
{
    static const char *const rasters[] = {"tif", "tiff", "jp2", "png", "jpg", "jpeg", "img",
                                          "nc",  "h5",   "hdf", "bin", "dat", "gpkg"};
    const char *const extension = CPLGetExtension(name);
    for (size_t i = 0; i < sizeof rasters / sizeof rasters[0]; i++)
        if (EQUAL(extension, rasters[i])) return false;
    return true;
}

/* *text = the text of a VRT or of a description of a service, freed by VSIFree(); NULL: neither. */
static qfz_status read_text(const walk *w, const char *name, GByte **text)
{
    char head[HEAD_BYTES + 1] = "";
    *text = NULL;
    if (!may_be_text(name)) return QFZ_OK;
    VSILFILE *const file = VSIFOpenL(name, "rb");
    if (!file) return QFZ_OK;
    (void)VSIFReadL(head, 1, HEAD_BYTES, file);
    if (!w->allowed && begins_a_service(head)) {
        (void)VSIFCloseL(file);
        return refuse(w, name);
    }
    const bool is_vrt = strstr(head, "<VRTDataset") != NULL;
    if (is_vrt && !VSIIngestFile(file, NULL, text, NULL, QFZ_VRT_BYTES_MAX)) *text = NULL;
    (void)VSIFCloseL(file);
    return QFZ_OK;
}

static qfz_status follow(walk *w, const char *name, int depth, int64_t *n_opened);

/* The name between a tag that begins at `tag` and the next one, as GDAL opens it; freed by
 * CPLFree(). */
static char *name_in(const char *tag, const char *vrt)
{
    const char *const begin = strchr(tag, '>'), *const end = begin ? strchr(begin, '<') : NULL;
    if (!end) return CPLStrdup("");
    char *const escaped = CPLStrdup(CPLSPrintf("%.*s", (int)(end - begin - 1), begin + 1));
    char *const name = CPLUnescapeString(escaped, NULL, CPLES_XML);
    const char *const relative = strstr(tag, "relativeToVRT=\"1\"");
    char *const path = CPLStrdup(relative && relative < begin && vrt[0] != '<'
                                     ? CPLProjectRelativeFilename(CPLGetDirname(vrt), name)
                                     : name);
    CPLFree(escaped);
    CPLFree(name);
    return path;
}

/* Follows every name in elements of one tag. */
static qfz_status follow_tag(walk *w, const char *vrt, const char *text, const char *tag, int depth,
                             int64_t *n_opened)
{
    qfz_status st = QFZ_OK;
    for (const char *at = strstr(text, tag); at && st == QFZ_OK; at = strstr(at + 1, tag)) {
        char *const name = name_in(at, vrt);
        st = follow(w, name, depth, n_opened);
        CPLFree(name);
    }
    return st;
}

static qfz_status follow_text(walk *w, const char *vrt, const char *text, int depth,
                              int64_t *n_opened)
{
    static const char *const tags[] = {"<SourceFilename", "<SourceDataset"};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
        QFZ_TRY(follow_tag(w, vrt, text, tags[i], depth, n_opened));
    if (*n_opened <= OPENED_MAX) return QFZ_OK;
    return qfz_fail(w->err, QFZ_EIO,
                    "%s: its VRTs name each other more than %d times; make one VRT of the rasters, "
                    "e.g. with gdalbuildvrt",
                    w->source, (int)OPENED_MAX);
}

/* *n_opened grows by the number of VRTs that opening `name` may open. */
static qfz_status follow(walk *w, const char *name, int depth, int64_t *n_opened)
{
    const bool is_text = strstr(name, "<VRTDataset") != NULL;
    int64_t n_here = 1;
    GByte *read = NULL;
    if (!is_text && !w->allowed && (begins_a_service(name) || has_network_files(name)))
        return refuse(w, name);
    const char *const known = is_text ? NULL : CSLFetchNameValue(w->opened, name);
    if (known) {
        *n_opened += atoll(known);
        return QFZ_OK;
    }
    if (!is_text) QFZ_TRY(read_text(w, name, &read));
    if (!is_text && !read) return QFZ_OK;
    qfz_status st =
        depth < DEPTH_MAX
            ? follow_text(w, name, is_text ? name : (const char *)read, depth + 1, &n_here)
            : qfz_fail(w->err, QFZ_EIO,
                       "%s: this VRT names itself, directly or through other VRTs, or is nested "
                       "more than %d deep",
                       w->source, (int)DEPTH_MAX);
    VSIFree(read);
    if (st == QFZ_OK && !is_text)
        w->opened = CSLSetNameValue(w->opened, name, CPLSPrintf("%lld", (long long)n_here));
    *n_opened += n_here;
    return st;
}

qfz_status qfz_network_check(const char *name, bool allowed, qfz_error *err)
{
    walk w = {.source = name, .allowed = allowed, .err = err};
    int64_t n_opened = 0;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const qfz_status st = follow(&w, name, 0, &n_opened);
    qfz_error_trap_end(&trap);
    CSLDestroy(w.opened);
    return st;
}
