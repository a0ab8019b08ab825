/* SPDX-License-Identifier: MIT */
/* parts_vrt.c - a VRT that shows the parts of an output as one raster.
 *
 * GDAL writes the header of the VRT, which is the header of any output.  The sources are added to
 * the XML here, so that their names are relative and no part is opened before it is read. */
#include "raster/parts_vrt.h"

#include <cpl_minixml.h>
#include <gdal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raster/error_trap.h"
#include "raster/output_header.h"
#include "raster/part_folder.h"

/* What all sources in the XML have in common. */
typedef struct part_facts {
    const qfz_sink_spec *spec;
    const char *folder; /* relative to the VRT */
    int block_w, block_h;
    const char *type; /* of the bands */
} part_facts;

static void add_integer(CPLXMLNode *node, const char *name, int64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%lld", (long long)value);
    CPLAddXMLAttributeAndValue(node, name, text);
}

static void add_rectangle(CPLXMLNode *node, const char *name, int64_t y0, int64_t h, int64_t w)
{
    CPLXMLNode *const box = CPLCreateXMLNode(node, CXT_Element, name);
    add_integer(box, "xOff", 0);
    add_integer(box, "yOff", y0);
    add_integer(box, "xSize", w);
    add_integer(box, "ySize", h);
}

/* Adds a part as a source of a band.  band: a number, or "mask,1". */
static qfz_status add_source(CPLXMLNode *band_node, const part_facts *facts, int part,
                             const int64_t *rows, const char *band, qfz_error *err)
{
    const qfz_sink_spec *const spec = facts->spec;
    const int64_t h = rows[part + 1] - rows[part];
    const bool is_mask = strncmp(band, "mask", 4) == 0;
    char *path = NULL;
    QFZ_TRY(qfz_part_path_in(&path, facts->folder, spec, part, err));
    CPLXMLNode *const source = CPLCreateXMLNode(band_node, CXT_Element, "SimpleSource");
    CPLXMLNode *const file = CPLCreateXMLElementAndValue(source, "SourceFilename", path);
    CPLAddXMLAttributeAndValue(file, "relativeToVRT", "1");
    CPLCreateXMLElementAndValue(source, "SourceBand", band);
    /* with these properties GDAL opens a part only when it is read */
    CPLXMLNode *const properties = CPLCreateXMLNode(source, CXT_Element, "SourceProperties");
    add_integer(properties, "RasterXSize", spec->w);
    add_integer(properties, "RasterYSize", h);
    CPLAddXMLAttributeAndValue(properties, "DataType", is_mask ? "Byte" : facts->type);
    add_integer(properties, "BlockXSize", facts->block_w);
    add_integer(properties, "BlockYSize", facts->block_h);
    add_rectangle(source, "SrcRect", 0, h, spec->w);
    add_rectangle(source, "DstRect", rows[part], h, spec->w);
    free(path);
    return QFZ_OK;
}

static qfz_status add_sources_of_band(CPLXMLNode *band_node, const part_facts *facts,
                                      const int64_t *rows, const char *band, qfz_error *err)
{
    for (int part = 0; part < facts->spec->n_parts; part++)
        if (rows[part] < rows[part + 1])
            QFZ_TRY(add_source(band_node, facts, part, rows, band, err));
    return QFZ_OK;
}

/* Adds the sources of all bands, then those of the mask. */
static qfz_status add_sources(CPLXMLNode *tree, const part_facts *facts, const int64_t *rows,
                              qfz_error *err)
{
    CPLXMLNode *const root = CPLGetXMLNode(tree, "=VRTDataset");
    CPLXMLNode *const mask = root ? CPLGetXMLNode(root, "MaskBand.VRTRasterBand") : NULL;
    char band[16];
    int b = 0;
    for (CPLXMLNode *node = root ? root->psChild : NULL; node; node = node->psNext) {
        if (node->eType != CXT_Element || strcmp(node->pszValue, "VRTRasterBand") != 0) continue;
        (void)snprintf(band, sizeof band, "%d", ++b);
        QFZ_TRY(add_sources_of_band(node, facts, rows, band, err));
    }
    if (b != facts->spec->n_bands || (facts->spec->has_mask && !mask))
        return qfz_fail(err, QFZ_EIO, "%s: GDAL wrote a VRT of %d bands, not %d", facts->spec->path,
                        b, facts->spec->n_bands);
    return mask ? add_sources_of_band(mask, facts, rows, "mask,1", err) : QFZ_OK;
}

/* Pixel convention, colours and signed bytes, which a GTiff gets with its creation options. */
static void copy_band_kinds(GDALDatasetH part, GDALDatasetH vrt)
{
    const char *const convention = GDALGetMetadataItem(part, "AREA_OR_POINT", NULL);
    if (convention) (void)GDALSetMetadataItem(vrt, "AREA_OR_POINT", convention, NULL);
    for (int b = 1; b <= GDALGetRasterCount(vrt); b++) {
        const GDALRasterBandH from = GDALGetRasterBand(part, b), to = GDALGetRasterBand(vrt, b);
        const char *const sign = GDALGetMetadataItem(from, "PIXELTYPE", "IMAGE_STRUCTURE");
        (void)GDALSetRasterColorInterpretation(to, GDALGetRasterColorInterpretation(from));
        if (sign) (void)GDALSetMetadataItem(to, "PIXELTYPE", sign, "IMAGE_STRUCTURE");
    }
}

/* Writes a VRT without sources; types are those of the open dataset `part`. */
static qfz_status write_header(const char *temp, const qfz_source *source,
                               const qfz_sink_spec *spec, GDALDatasetH part, qfz_error *err)
{
    qfz_sink_spec whole = *spec;
    qfz_error_trap trap;
    whole.n_parts = 0;
    qfz_error_trap_begin(&trap);
    const GDALDatasetH vrt =
        GDALCreate(GDALGetDriverByName("VRT"), temp, (int)spec->w, (int)spec->h, spec->n_bands,
                   GDALGetRasterDataType(GDALGetRasterBand(part, 1)), NULL);
    qfz_error_trap_end(&trap);
    if (!vrt)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, spec->path, "the VRT could not be created");
    const qfz_status st = qfz_output_header_fill(vrt, source, &whole, spec->path, err);
    qfz_error_trap_begin(&trap);
    if (st == QFZ_OK) copy_band_kinds(part, vrt);
    GDALClose(vrt);
    qfz_error_trap_end(&trap);
    if (st != QFZ_OK || !trap.failed) return st;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, spec->path, "the VRT could not be written");
}

static qfz_status write_sources(const char *temp, const part_facts *facts, const int64_t *rows,
                                qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    CPLXMLNode *const tree = CPLParseXMLFile(temp);
    const qfz_status st = tree ? add_sources(tree, facts, rows, err) : QFZ_OK;
    const bool ok = tree && st == QFZ_OK && CPLSerializeXMLTreeToFile(tree, temp);
    if (tree) CPLDestroyXMLNode(tree);
    qfz_error_trap_end(&trap);
    if (st != QFZ_OK || ok) return st;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, facts->spec->path,
                               "the VRT could not be written");
}

qfz_status qfz_parts_vrt_write(const char *temp, const qfz_source *source,
                               const qfz_sink_spec *spec, const int64_t *rows, const char *folder,
                               const char *part_path, qfz_error *err)
{
    part_facts facts = {.spec = spec, .folder = folder};
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const GDALDatasetH part =
        GDALOpenEx(part_path, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    qfz_error_trap_end(&trap);
    if (!part) return qfz_error_trap_fail(&trap, err, QFZ_EIO, part_path, "it cannot be opened");
    const GDALRasterBandH band = GDALGetRasterBand(part, 1);
    GDALGetBlockSize(band, &facts.block_w, &facts.block_h);
    facts.type = GDALGetDataTypeName(GDALGetRasterDataType(band));
    qfz_status st = write_header(temp, source, spec, part, err);
    if (st == QFZ_OK) st = write_sources(temp, &facts, rows, err);
    GDALClose(part);
    return st;
}
