/* SPDX-License-Identifier: MIT */
#include "raster/out_type_facts.h"

#include <cpl_port.h>

static const qfz_out_type_facts facts_of[] = {
    {"Byte", QFZ_OUT_U8, 1, false, 0, 255},
    {"Int8", QFZ_OUT_I8, 1, false, -128, 127},
    {"UInt16", QFZ_OUT_U16, 2, false, 0, 65535},
    {"Int16", QFZ_OUT_I16, 2, false, -32768, 32767},
    {"UInt32", QFZ_OUT_U32, 4, false, 0, 4294967295.0},
    {"Int32", QFZ_OUT_I32, 4, false, -2147483648.0, 2147483647},
    {"UInt64", QFZ_OUT_U64, 8, false, 0, 0x1p64},
    {"Float32", QFZ_OUT_F32, 4, true, -0x1p24, 0x1p24},
    {"Float64", QFZ_OUT_F64, 8, true, -0x1p53, 0x1p53},
};
enum { N_TYPES = sizeof facts_of / sizeof facts_of[0] };

size_t qfz_out_type_bytes(qfz_out_type type)
{
    return facts_of[type].bytes;
}

const qfz_out_type_facts *qfz_out_type_get_facts(qfz_out_type type)
{
    return &facts_of[type];
}

qfz_out_type qfz_out_type_of(qfz_type type)
{
    static const qfz_out_type out[] = {QFZ_OUT_U8,  QFZ_OUT_I8,  QFZ_OUT_U16, QFZ_OUT_I16,
                                       QFZ_OUT_U32, QFZ_OUT_I32, QFZ_OUT_F32};
    return out[type];
}

GDALDataType qfz_gdal_type(qfz_out_type type)
{
    const GDALDataType found = GDALGetDataTypeByName(facts_of[type].name);
    return found == GDT_Unknown && type == QFZ_OUT_I8 ? GDT_Byte : found;
}

const qfz_out_type_facts *qfz_out_type_find(const char *name)
{
    for (int i = 0; i < N_TYPES; i++)
        if (EQUAL(name, facts_of[i].name) || (i == 0 && EQUAL(name, "UInt8"))) return &facts_of[i];
    return NULL;
}
