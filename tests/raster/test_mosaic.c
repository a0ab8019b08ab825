/* SPDX-License-Identifier: MIT */
/* test_mosaic.c - which VRTs are read without the georeference of their parts, with which blocks,
 * and that the pixels are right. */
#include "raster/mosaic.h"
#include "raster/vrt_nesting.h"
#include "raster/vrt_text.h"
#include "scene.h"

#define BAND(more) "<VRTRasterBand dataType='Byte' band='1'" more ">"
#define PART(name) "<SimpleSource><SourceFilename>" name "</SourceFilename></SimpleSource>"
#define RASTER(bands) "<VRTDataset rasterXSize='2' rasterYSize='1'>" bands "</VRTDataset>"
#define END "</VRTRasterBand>"

static qfz_mosaic mosaic_of(const char *xml)
{
    qfz_mosaic mosaic;
    const GDALDatasetH dataset = GDALOpen(xml, GA_ReadOnly);
    assert_non_null(dataset);
    OK(qfz_mosaic_init(&mosaic, dataset, &err));
    GDALClose(dataset);
    return mosaic;
}

static bool is_plain(const char *xml)
{
    return mosaic_of(xml).is_plain;
}

static void write_text(const char *name, const char *text)
{
    VSILFILE *const file = VSIFOpenL(name, "wb");
    assert_int_equal(VSIFWriteL(text, strlen(text), 1, file), 1);
    assert_int_equal(VSIFCloseL(file), 0);
}

static void knows_mosaics_of_tiffs(void **state)
{
    (void)state;
    const char *const vrt = "/vsimem/mosaic.vrt";
    assert_true(is_plain(RASTER(BAND("") PART("/a.tif") PART("/b.tif") END)));
    assert_true(is_plain(
        RASTER(BAND(" subClass=\"VRTSourcedRasterBand\"") "<ComplexSource><SourceFilename "
                                                          "relativeToVRT='0'>/a.tif</"
                                                          "SourceFilename></ComplexSource>" END)));
    write_text(vrt, RASTER(BAND("") PART("/a.TIFF") END));
    assert_true(is_plain(vrt));
}

static void takes_others_as_they_are(void **state)
{
    (void)state;
    const char *const tif = "/vsimem/a.tif";
    assert_false(is_plain(RASTER(BAND("") END)));
    assert_false(is_plain(RASTER(BAND("") PART("/a.tif") PART("/b.vrt") END)));
    assert_false(is_plain(RASTER(BAND("") PART("NETCDF:/a.nc:tif") END)));
    assert_false(is_plain(RASTER(
        BAND(" subClass='VRTDerivedRasterBand'") "<PixelFunctionType>sum</PixelFunctionType>" PART(
            "/a.tif") END)));
    GDALClose(make(tif, 2, 1, 1, GDT_Byte, NULL));
    assert_false(is_plain(tif));
}

#define NEXT(name)                                                                                 \
    "<SimpleSource><SourceFilename relativeToVRT=\"1\">" name "</SourceFilename></SimpleSource>"

/* True if a VRT that names vrt is refused. */
static bool leads_back(const char *vrt)
{
    qfz_error err = {0};
    char text[512];
    bool resamples = false;
    (void)snprintf(text, sizeof text, RASTER(BAND("") NEXT("%s") END), vrt);
    const bool is_so = qfz_vrt_check_nesting(text, text, &resamples, &err) != QFZ_OK;
    assert_int_equal(is_so, strstr(err.message, "names itself") != NULL);
    return is_so;
}

static void finds_vrts_that_lead_back(void **state)
{
    (void)state;
    write_text("/vsimem/n/self.vrt", RASTER(BAND("") NEXT("self.vrt") END));
    write_text("/vsimem/n/one.vrt", RASTER(BAND("") PART("a.tif") NEXT("m/two&amp;.vrt") END));
    write_text("/vsimem/n/m/two&.vrt", RASTER(BAND("") PART("/vsimem/n/one.vrt") END));
    assert_true(leads_back("/vsimem/n/self.vrt"));
    assert_true(leads_back("/vsimem/n/one.vrt"));
    assert_true(leads_back("/vsimem/n/m/two&amp;.vrt"));
}

/* Each VRT names the next one twice; no VRT is followed twice. */
static void follows_vrts_to_their_ends(void **state)
{
    (void)state;
    char name[64], text[1024];
    for (int i = 0; i < 60; i++) {
        (void)snprintf(name, sizeof name, "/vsimem/n/way%d.vrt", i);
        (void)snprintf(text, sizeof text, RASTER(BAND("") NEXT("way%d.vrt") NEXT("way%d.vrt") END),
                       i + 1, i + 1);
        write_text(name, text);
    }
    assert_false(leads_back("/vsimem/n/way0.vrt"));
    assert_false(leads_back("/vsimem/n/none.vrt"));
}

static void a_reader_leaves_no_option_behind(void **state)
{
    (void)state;
    static const uint8_t px[2] = {7, 8};
    uint8_t got[2], valid[2];
    qfz_source *reader;
    GDALClose(make("/vsimem/a.tif", 2, 1, 1, GDT_Byte, px));
    const qfz_source_options input = source_of(RASTER(BAND("") PART("/vsimem/a.tif") END));
    qfz_source *const source = open_it(&input);
    OK(qfz_source_open_reader(&reader, source, &err));
    OK(qfz_source_read(reader, whole(reader), got, valid, &err));
    assert_memory_equal(got, px, sizeof px);
    assert_null(CPLGetConfigOption("GDAL_GEOREF_SOURCES", NULL));
    qfz_source_close(reader);
    qfz_source_close(source);
}

/* Two parts of 4096 x 4096 side by side, as gdalbuildvrt writes them. */
static const char *pair(char text[2048], const char *second_block, int second_x)
{
    static const char part[] =
        "<SimpleSource><SourceFilename>/vsimem/none.tif</SourceFilename><SourceBand>1</SourceBand>"
        "<SourceProperties RasterXSize=\"4096\" RasterYSize=\"4096\" DataType=\"Byte\" %s/>"
        "<SrcRect xOff=\"0\" yOff=\"0\" xSize=\"4096\" ySize=\"4096\"/>"
        "<DstRect xOff=\"%d\" yOff=\"0\" xSize=\"4096\" ySize=\"4096\"/></SimpleSource>";
    char parts[2][900];
    (void)snprintf(parts[0], sizeof parts[0], part, "BlockXSize=\"512\" BlockYSize=\"256\"", 0);
    (void)snprintf(parts[1], sizeof parts[1], part, second_block, second_x);
    (void)snprintf(text, 2048,
                   "<VRTDataset rasterXSize=\"8192\" rasterYSize=\"4096\">" BAND(
                       "") "%s%s" END "</VRTDataset>",
                   parts[0], parts[1]);
    return text;
}

static void check_blocks(const char *xml, int64_t w, int64_t h, bool has_grid)
{
    const qfz_mosaic mosaic = mosaic_of(xml);
    assert_true(mosaic.is_vrt && mosaic.is_plain);
    assert_int_equal(mosaic.block_w, w);
    assert_int_equal(mosaic.block_h, h);
    assert_int_equal(mosaic.has_grid, has_grid);
}

static void knows_the_blocks_of_all_parts(void **state)
{
    (void)state;
    static const char same[] = "BlockXSize=\"512\" BlockYSize=\"256\"";
    char text[2048];
    check_blocks(pair(text, same, 4096), 512, 256, true);
    check_blocks(pair(text, same, 4000), 512, 256, false);
    check_blocks(pair(text, "BlockXSize=\"512\" BlockYSize=\"512\"", 4096), 0, 0, false);
    check_blocks(pair(text, "", 4096), 0, 0, false);
    check_blocks(RASTER(BAND("") PART("/a.tif") END), 0, 0, false);
}

/* A reader does not read the text again, which may be long. */
static void a_reader_takes_the_blocks_of_its_source(void **state)
{
    (void)state;
    const char *const vrt = "/vsimem/pair.vrt";
    char text[2048];
    qfz_source *reader;
    const qfz_source_options input = source_of(vrt);
    write_text(vrt, pair(text, "BlockXSize=\"512\" BlockYSize=\"256\"", 4096));
    qfz_source *const source = open_it(&input);
    write_text(vrt, pair(text, "", 4096));
    OK(qfz_source_open_reader(&reader, source, &err));
    assert_int_equal(qfz_source_get_info(reader)->block_w, 512);
    assert_int_equal(qfz_source_get_info(reader)->block_h, 256);
    qfz_source_close(reader);
    qfz_source_close(source);
}

/* Bytes of GDAL's cache: two blocks if blocks are read once, the blocks of a stripe if stripes cut
 * blocks, and 0 (all) if tiles do. */
static void asks_for_the_cache_that_its_blocks_need(void **state)
{
    (void)state;
    static const char same[] = "BlockXSize=\"512\" BlockYSize=\"256\"";
    const int64_t block = 512 * 256;
    char text[2048];
    qfz_source_options input = source_of(pair(text, same, 4096));
    qfz_source *source = open_it(&input);
    assert_int_equal(qfz_source_get_info(source)->block_w, 512);
    assert_int_equal(qfz_source_get_info(source)->block_h, 256);
    assert_int_equal(qfz_source_cache_bytes(source, 4096), 2 * block);
    assert_int_equal(qfz_source_cache_bytes(source, 1000), 0);
    assert_int_equal(qfz_source_cache_bytes(source, 8192), 2 * block);
    qfz_source_close(source);
    input.name = pair(text, same, 4000);
    source = open_it(&input);
    assert_true(qfz_source_cache_bytes(source, 4096) >= 2 * 8 * block);
    qfz_source_close(source);
    input.name = pair(text, "", 4096);
    source = open_it(&input);
    assert_int_equal(qfz_source_cache_bytes(source, 4096), 0);
    qfz_source_close(source);
}

/* From a bug: with as many threads as datasets in GDAL's pool, the threads waited for each other.
 */
static void many_threads_can_have_parts_open(void **state)
{
    (void)state;
    const char *const size = CPLGetConfigOption("GDAL_MAX_DATASET_POOL_SIZE", NULL);
    assert_non_null(size);
    assert_true(atoi(size) > 100);
}

/* ---------------------------------------------------------------------------- other pixel sizes */
#define RECTS(src_w, dst_w, dst_x)                                                                 \
    "<SrcRect xOff=\"0\" yOff=\"0\" xSize=\"" src_w "\" ySize=\"30\"/>"                            \
    "<DstRect xOff=\"" dst_x "\" yOff=\"0\" xSize=\"" dst_w "\" ySize=\"30\"/>"
#define SOURCE(how, rects)                                                                         \
    "<SimpleSource" how "><SourceFilename>/vsimem/fine.tif</SourceFilename>"                       \
    "<SourceBand>1</SourceBand>" rects "</SimpleSource>"
#define AVERAGE " resampling=\"average\""
#define WIDE                                                                                       \
    "<VRTDataset rasterXSize='80' rasterYSize='30'>" BAND("")                                      \
        SOURCE(AVERAGE, RECTS("40", "80", "0")) END "</VRTDataset>"

static void knows_where_the_resamples(void **state)
{
    (void)state;
    assert_false(qfz_vrt_resamples(SOURCE("", RECTS("40", "39.9999999998", "0.5"))));
    assert_true(qfz_vrt_resamples(SOURCE("", RECTS("40", "80", "0"))));
    assert_false(qfz_vrt_resamples(SOURCE(AVERAGE, RECTS("40", "40", "7"))));
    assert_true(qfz_vrt_resamples(SOURCE(AVERAGE, RECTS("40", "80", "0"))));
    assert_true(qfz_vrt_resamples(SOURCE(AVERAGE, RECTS("40", "40", "0.5"))));
    assert_true(qfz_vrt_resamples(SOURCE(AVERAGE, "") SOURCE("", RECTS("40", "40", "0"))));
    assert_true(qfz_vrt_resamples("<VRTDataset subClass=\"VRTWarpedDataset\">"));
}

/* Tiles of 7 x 7 pixels give the same pixels as one tile. */
static void check_tiles(const char *name, const char *mask)
{
    enum { W = 80, H = 30, SIDE = 7 };
    static uint8_t all[W * H], part[SIDE * SIDE], valid[W * H], part_valid[SIDE * SIDE];
    qfz_source_options input = source_of(name);
    input.mask = mask;
    qfz_source *const source = open_it(&input);
    const int64_t w = qfz_source_get_info(source)->w;
    OK(qfz_source_read(source, whole(source), all, valid, &err));
    for (int64_t y0 = 0; y0 < H; y0 += SIDE)
        for (int64_t x0 = 0; x0 < w; x0 += SIDE) {
            const qfz_box box = {y0, x0, y0 + SIDE < H ? y0 + SIDE : H,
                                 x0 + SIDE < w ? x0 + SIDE : w};
            OK(qfz_source_read(source, box, part, part_valid, &err));
            for (int64_t y = y0; y < box.y1; y++) {
                const int64_t n = box.x1 - x0, at = (y - y0) * n;
                assert_memory_equal(part + at, all + y * w + x0, (size_t)n);
                assert_memory_equal(part_valid + at, valid + y * w + x0, (size_t)n);
            }
        }
    qfz_source_close(source);
}

/* From a bug: GDAL's averages depend on the window, so results depended on tiles. */
static void reads_the_same_in_tiles_as_whole(void **state)
{
    (void)state;
    static const char wide[] = "/vsimem/wide.vrt", nested[] = "/vsimem/nested.vrt";
    static const char plain[] = "/vsimem/plain.tif";
    static uint8_t px[40 * 30];
    for (int i = 0; i < 40 * 30; i++)
        px[i] = (uint8_t)(i * i % 251 % 3);
    GDALClose(make("/vsimem/fine.tif", 40, 30, 1, GDT_Byte, px));
    GDALClose(make(plain, 80, 30, 1, GDT_Byte, NULL));
    write_text(wide, WIDE);
    write_text(nested, "<VRTDataset rasterXSize='80' rasterYSize='30'>" BAND("")
                           PART("/vsimem/wide.vrt") END "</VRTDataset>");
    check_tiles(wide, NULL);
    check_tiles(nested, NULL);
    check_tiles(plain, wide);
    check_tiles(plain, WIDE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_mosaics_of_tiffs),
        cmocka_unit_test(takes_others_as_they_are),
        cmocka_unit_test(finds_vrts_that_lead_back),
        cmocka_unit_test(follows_vrts_to_their_ends),
        cmocka_unit_test(knows_the_blocks_of_all_parts),
        cmocka_unit_test(a_reader_takes_the_blocks_of_its_source),
        cmocka_unit_test(asks_for_the_cache_that_its_blocks_need),
        cmocka_unit_test(many_threads_can_have_parts_open),
        cmocka_unit_test(a_reader_leaves_no_option_behind),
        cmocka_unit_test(knows_where_the_resamples),
        cmocka_unit_test(reads_the_same_in_tiles_as_whole),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
