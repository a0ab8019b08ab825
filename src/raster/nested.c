/* SPDX-License-Identifier: MIT */
/* nested.c - VRTs that lead back to themselves, which GDAL would follow for ever.
 *
 * A VRT names others in the text of its elements, by paths from its own folder, if it lies in one,
 * where they say relativeToVRT="1". */
#include "raster/private.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>
#include <string.h>

static const char extension[] = ".vrt";

static char *copy_of(const char *begin, const char *end)
{
    char *const copy = CPLCalloc(1, (size_t)(end - begin) + 1);
    memcpy(copy, begin, (size_t)(end - begin));
    return copy;
}

/* The VRT that is named before the tag at end, as one finds it from the VRT that names it.  To be
 * freed by CPLFree(). */
static char *named_before(const char *text, const char *end, const char *vrt)
{
    const char *begin = end;
    while (begin > text && begin[-1] != '>')
        begin--;
    const char *tag = begin;
    while (tag > text && *tag != '<')
        tag--;
    char *const element = copy_of(tag, begin), *const written = copy_of(begin, end);
    char *const name = CPLUnescapeString(written, NULL, CPLES_XML);
    const bool is_relative = vrt[0] != '<' && strstr(element, "relativeToVRT=\"1\"");
    char *const path =
        CPLStrdup(is_relative ? CPLProjectRelativeFilename(CPLGetDirname(vrt), name) : name);
    CPLFree(name);
    CPLFree(written);
    CPLFree(element);
    return path;
}

static bool leads_back(const char *vrt, int depth, char ***done, bool *window_matters);

/* Does one of those that the VRT of this text names? */
static bool one_leads_back(const char *vrt, const char *text, int depth, char ***done,
                           bool *window_matters)
{
    bool is_so = false;
    if (qfz_window_matters(text)) *window_matters = true;
    for (const char *at = strstr(text, extension); at && !is_so; at = strstr(at + 1, extension)) {
        const char *const end = at + strlen(extension);
        char *const name = *end == '<' ? named_before(text, end, vrt) : NULL;
        is_so = name && leads_back(name, depth + 1, done, window_matters);
        CPLFree(name);
    }
    return is_so;
}

/* done: a list of names, those that lead nowhere but to their ends. */
static bool leads_back(const char *vrt, int depth, char ***done, bool *window_matters)
{
    GByte *text = NULL;
    bool is_so = depth > QFZ_NESTED_MAX;
    if (is_so || CSLFindStringCaseSensitive(*done, vrt) >= 0) return is_so;
    if (!VSIIngestFile(NULL, vrt, &text, NULL, QFZ_VRT_BYTES_MAX)) return false;
    is_so = one_leads_back(vrt, (const char *)text, depth, done, window_matters);
    VSIFree(text);
    if (!is_so) *done = CSLAddString(*done, vrt);
    return is_so;
}

qfz_status qfz_nested_check(const char *vrt, const char *text, bool *window_matters, qfz_error *err)
{
    char **done = NULL;
    const bool is_so = one_leads_back(vrt, text, 0, &done, window_matters);
    CSLDestroy(done);
    return is_so ? qfz_fail(err, QFZ_EIO,
                            "%s: this VRT leads back to itself, or through more than %d others",
                            vrt, QFZ_NESTED_MAX)
                 : QFZ_OK;
}
