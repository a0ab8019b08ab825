/* SPDX-License-Identifier: MIT */
/* vrt_nesting.c - VRTs that lead back to themselves, which GDAL would open without end.
 *
 * A VRT names its sources in the text of its elements.  A name with relativeToVRT="1" is relative
 * to the folder of the VRT, if the VRT is a file. */
#include "raster/vrt_nesting.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <string.h>

#include "raster/vrt_text.h"

enum { NESTED_MAX = 64 };

static const char extension[] = ".vrt";

static char *copy_of(const char *begin, const char *end)
{
    char *const copy = CPLCalloc(1, (size_t)(end - begin) + 1);
    memcpy(copy, begin, (size_t)(end - begin));
    return copy;
}

/* The name of a VRT in the text that ends at the tag `end`, as a path that GDAL can open; freed by
 * CPLFree().  vrt: the VRT that names it. */
static char *named_before(const char *text, const char *end, const char *vrt)
{
    const char *begin = end;
    while (begin > text && begin[-1] != '>')
        begin--;
    const char *tag = begin;
    while (tag > text && *tag != '<')
        tag--;
    char *const element = copy_of(tag, begin), *const escaped = copy_of(begin, end);
    char *const name = CPLUnescapeString(escaped, NULL, CPLES_XML);
    const bool is_relative = vrt[0] != '<' && strstr(element, "relativeToVRT=\"1\"");
    char *const path =
        CPLStrdup(is_relative ? CPLProjectRelativeFilename(CPLGetDirname(vrt), name) : name);
    CPLFree(name);
    CPLFree(escaped);
    CPLFree(element);
    return path;
}

static bool leads_back(const char *vrt, int depth, char ***done, bool *resamples);

/* True if a VRT that this text names leads back, or the nesting is too deep. */
static bool one_leads_back(const char *vrt, const char *text, int depth, char ***done,
                           bool *resamples)
{
    bool is_so = false;
    if (qfz_vrt_resamples(text)) *resamples = true;
    for (const char *at = strstr(text, extension); at && !is_so; at = strstr(at + 1, extension)) {
        const char *const end = at + strlen(extension);
        char *const name = *end == '<' ? named_before(text, end, vrt) : NULL;
        is_so = name && leads_back(name, depth + 1, done, resamples);
        CPLFree(name);
    }
    return is_so;
}

/* done: names of VRTs that are known not to lead back. */
static bool leads_back(const char *vrt, int depth, char ***done, bool *resamples)
{
    GByte *text = NULL;
    bool is_so = depth > NESTED_MAX;
    if (is_so || CSLFindStringCaseSensitive(*done, vrt) >= 0) return is_so;
    if (!VSIIngestFile(NULL, vrt, &text, NULL, QFZ_VRT_BYTES_MAX)) return false;
    is_so = one_leads_back(vrt, (const char *)text, depth, done, resamples);
    VSIFree(text);
    if (!is_so) *done = CSLAddString(*done, vrt);
    return is_so;
}

qfz_status qfz_vrt_check_nesting(const char *vrt, const char *text, bool *resamples, qfz_error *err)
{
    char **done = NULL;
    const bool is_so = one_leads_back(vrt, text, 0, &done, resamples);
    CSLDestroy(done);
    return is_so
               ? qfz_fail(err, QFZ_EIO,
                          "%s: this VRT names itself, directly or through other VRTs, or is nested "
                          "more than %d deep",
                          vrt, NESTED_MAX)
               : QFZ_OK;
}
