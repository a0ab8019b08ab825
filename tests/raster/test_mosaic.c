/* SPDX-License-Identifier: MIT */
/* Which VRTs are read without the georeferences of their parts, and that their pixels come. */
#include "raster/private.h"
#include "scene.h"

#define BAND(more) "<VRTRasterBand dataType='Byte' band='1'" more ">"
#define PART(name) "<SimpleSource><SourceFilename>" name "</SourceFilename></SimpleSource>"
#define RASTER(bands) "<VRTDataset rasterXSize='2' rasterYSize='1'>" bands "</VRTDataset>"
#define END "</VRTRasterBand>"

static bool is_plain(const char *xml)
{
    const GDALDatasetH dataset = GDALOpen(xml, GA_ReadOnly);
    assert_non_null(dataset);
    const bool plain = qfz_mosaic_is_plain(dataset);
    GDALClose(dataset);
    return plain;
}

static void knows_mosaics_of_tiffs(void **state)
{
    (void)state;
    const char *const vrt = "/vsimem/mosaic.vrt", text[] = RASTER(BAND("") PART("/a.TIFF") END);
    assert_true(is_plain(RASTER(BAND("") PART("/a.tif") PART("/b.tif") END)));
    assert_true(is_plain(
        RASTER(BAND(" subClass=\"VRTSourcedRasterBand\"") "<ComplexSource><SourceFilename "
                                                          "relativeToVRT='0'>/a.tif</"
                                                          "SourceFilename></ComplexSource>" END)));
    VSILFILE *const file = VSIFOpenL(vrt, "wb");
    assert_int_equal(VSIFWriteL(text, sizeof text - 1, 1, file), 1);
    assert_int_equal(VSIFCloseL(file), 0);
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

static void a_reader_leaves_no_option_behind(void **state)
{
    (void)state;
    static const uint8_t px[2] = {7, 8};
    uint8_t got[2], valid[2];
    qfz_source *source;
    GDALClose(make("/vsimem/a.tif", 2, 1, 1, GDT_Byte, px));
    const qfz_job job = job_on(QFZ_LABEL, RASTER(BAND("") PART("/vsimem/a.tif") END));
    OK(qfz_source_open_reader(&source, &job, &err));
    OK(qfz_source_read(source, whole(source), got, valid, &err));
    assert_memory_equal(got, px, sizeof px);
    assert_null(CPLGetConfigOption("GDAL_GEOREF_SOURCES", NULL));
    qfz_source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_mosaics_of_tiffs),
        cmocka_unit_test(takes_others_as_they_are),
        cmocka_unit_test(a_reader_leaves_no_option_behind),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
