/* SPDX-License-Identifier: MIT */
/* quicklook.c - small pictures of large rasters: an image, saliency.  Also a first guess of alpha
 * and omega for a raster.  Regions have `qfz regions --quicklook`.
 *
 * Images are read decimated, by nearest neighbour.  Saliency is read whole, row band by
 * row band: a thin line must not fall between the pixels of the picture. */
#include <cpl_conv.h>
#include <gdal.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 1024, SAMPLE = 512 };

static const char usage[] =
    "usage: quicklook image SRC OUT.png [LIKE]   colours; stretched as LIKE, or SRC, asks for\n"
    "       quicklook rgb SRC OUT.png [LIKE]     the same\n"
    "       quicklook gray SRC OUT.png [LIKE]    the first band\n"
    "       quicklook saliency SRC OUT.png       dark where regions part late\n"
    "       quicklook suggest SRC                prints alpha and omega (linf)\n";

typedef struct picture {
    int w, h;
    uint8_t *rgb; /* planes; the fourth is opacity */
} picture;

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Sorts values; the q-th of them. */
static float quantile(float *values, size_t n, double q)
{
    if (n == 0) return 0;
    qsort(values, n, sizeof *values, by_value);
    return values[(size_t)(q * (double)(n - 1))];
}

static void *room(size_t n, size_t item_bytes)
{
    void *p = calloc(n ? n : 1, item_bytes);
    if (!p) {
        fputs("quicklook: no memory\n", stderr);
        exit(1);
    }
    return p;
}

/* An empty picture for src, no side longer than SIDE; the caller frees p->rgb. */
static void picture_init(picture *p, GDALDatasetH src)
{
    const int w = GDALGetRasterXSize(src), h = GDALGetRasterYSize(src);
    const double shrink = fmin(1, (double)SIDE / fmax(w, h));
    p->w = (int)fmax(1, w * shrink);
    p->h = (int)fmax(1, h * shrink);
    p->rgb = room((size_t)p->w * (size_t)p->h, 4);
}

/* A band, decimated, and the validity by its mask band. */
static bool read_band(GDALDatasetH src, int band, const picture *p, float *values, uint8_t *valid)
{
    GDALRasterBandH b = GDALGetRasterBand(src, band);
    const int w = GDALGetRasterXSize(src), h = GDALGetRasterYSize(src);
    return GDALRasterIO(b, GF_Read, 0, 0, w, h, values, p->w, p->h, GDT_Float32, 0, 0) == CE_None &&
           GDALRasterIO(GDALGetMaskBand(b), GF_Read, 0, 0, w, h, valid, p->w, p->h, GDT_Byte, 0,
                        0) == CE_None;
}

/* Red, green, blue: as the bands say, else as satellites order them, else the first three. */
static void choose_bands(GDALDatasetH src, int rgb[3])
{
    const int n = GDALGetRasterCount(src);
    const GDALColorInterp wanted[3] = {GCI_RedBand, GCI_GreenBand, GCI_BlueBand};
    int found = 0;
    for (int c = 0; c < 3; c++) {
        for (int b = n; b >= 1; b--) {
            if (GDALGetRasterColorInterpretation(GDALGetRasterBand(src, b)) != wanted[c]) continue;
            rgb[c] = b;
            found |= 1 << c;
        }
    }
    if (found == 7) return;
    for (int c = 0; c < 3; c++)
        rgb[c] = n >= 4 ? 3 - c : n == 3 ? c + 1 : 1;
}

/* The values between which a band of src is stretched. */
static bool stretch_of(GDALDatasetH src, int band, float *low, float *high)
{
    picture p;
    picture_init(&p, src);
    const size_t n = (size_t)p.w * (size_t)p.h;
    float *values = room(n, sizeof *values);
    const bool ok = read_band(src, band, &p, values, p.rgb);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (p.rgb[i] && isfinite(values[i])) values[kept++] = values[i];
    *low = quantile(values, kept, 0.02);
    *high = kept ? values[(size_t)(0.98 * (double)(kept - 1))] : 1;
    free(values);
    free(p.rgb);
    return ok;
}

static bool draw_image(GDALDatasetH src, GDALDatasetH like, bool gray, picture *p)
{
    const size_t n = (size_t)p->w * (size_t)p->h;
    float *values = room(n, sizeof *values);
    uint8_t *valid = room(n, 1);
    int rgb[3];
    bool ok = true;
    choose_bands(like, rgb);
    if (gray) rgb[0] = rgb[1] = rgb[2] = 1;
    for (int c = 0; c < 3 && ok; c++) {
        const int band = rgb[c] <= GDALGetRasterCount(src) ? rgb[c] : 1;
        float low, high;
        ok = stretch_of(like, rgb[c], &low, &high) && read_band(src, band, p, values, valid);
        const float gain = 255 / fmaxf(high - low, 1e-20f);
        for (size_t i = 0; i < n && ok; i++) {
            const float v = (values[i] - low) * gain;
            p->rgb[(size_t)c * n + i] = (uint8_t)(v > 255 ? 255 : v > 0 ? v : 0);
            if (c == 0) p->rgb[3 * n + i] = valid[i] && !isnan(values[i]) ? 255 : 0;
        }
    }
    free(values);
    free(valid);
    return ok;
}

/* dark[i] = the largest level of the edges in a pixel of the picture, -1 where there is none. */
static bool read_darkness(GDALDatasetH src, const picture *p, float *dark)
{
    const int w = GDALGetRasterXSize(src), h = GDALGetRasterYSize(src);
    float *row = room((size_t)w, sizeof *row);
    bool ok = true;
    for (size_t i = 0; i < (size_t)p->w * (size_t)p->h; i++)
        dark[i] = -1;
    for (int b = 1; b <= GDALGetRasterCount(src) && ok; b++) {
        GDALRasterBandH band = GDALGetRasterBand(src, b);
        int has = 0;
        const float nodata = (float)GDALGetRasterNoDataValue(band, &has);
        for (int y = 0; y < h && ok; y++) {
            ok = GDALRasterIO(band, GF_Read, 0, y, w, 1, row, w, 1, GDT_Float32, 0, 0) == CE_None;
            float *line = dark + (int64_t)y * p->h / h * p->w;
            for (int x = 0; x < w; x++) {
                if (isnan(row[x]) || (has && row[x] == nodata)) continue;
                float *at = line + (int64_t)x * p->w / w;
                *at = fmaxf(*at, row[x]);
            }
        }
    }
    free(row);
    return ok;
}

static bool draw_saliency(GDALDatasetH src, picture *p)
{
    const size_t n = (size_t)p->w * (size_t)p->h;
    float *dark = room(n, sizeof *dark), *sorted = room(n, sizeof *sorted);
    const bool ok = read_darkness(src, p, dark);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (dark[i] >= 0) sorted[kept++] = dark[i];
    const float low = quantile(sorted, kept, 0.1);
    const float high = kept ? sorted[(size_t)(0.995 * (double)(kept - 1))] : 1;
    for (size_t i = 0; i < n; i++) {
        const float v = (dark[i] - low) / fmaxf(high - low, 1e-20f);
        const float ink = v > 1 ? 1 : v > 0 ? sqrtf(v) : 0;
        for (size_t c = 0; c < 3; c++)
            p->rgb[c * n + i] = (uint8_t)(255 * (1 - ink));
        p->rgb[3 * n + i] = dark[i] >= 0 ? 255 : 0;
    }
    free(dark);
    free(sorted);
    return ok;
}

static bool save(const picture *p, const char *path)
{
    const size_t plane = (size_t)p->w * (size_t)p->h;
    GDALDatasetH memory = GDALCreate(GDALGetDriverByName("MEM"), "", p->w, p->h, 4, GDT_Byte, NULL);
    bool ok = memory != NULL;
    for (int b = 1; b <= 4 && ok; b++) {
        GDALRasterBandH band = GDALGetRasterBand(memory, b);
        GDALSetRasterColorInterpretation(band, (GDALColorInterp)(GCI_RedBand + b - 1));
        ok = GDALRasterIO(band, GF_Write, 0, 0, p->w, p->h, p->rgb + (size_t)(b - 1) * plane, p->w,
                          p->h, GDT_Byte, 0, 0) == CE_None;
    }
    CPLSetConfigOption("GDAL_PAM_ENABLED", "NO"); /* no .aux.xml beside the picture */
    GDALDatasetH png =
        ok ? GDALCreateCopy(GDALGetDriverByName("PNG"), path, memory, 0, NULL, NULL, NULL) : NULL;
    if (png) GDALClose(png);
    if (memory) GDALClose(memory);
    return png != NULL;
}

/* Differences (linf) of neighbours in a row, in a box of the raster, where both are valid. */
static size_t sample(GDALDatasetH src, int x0, int y0, int w, int h, float *steps)
{
    const size_t n = (size_t)w * (size_t)h;
    float *values = room(n, sizeof *values);
    uint8_t *valid = room(n, 1);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        steps[i] = 0;
    for (int b = 1; b <= GDALGetRasterCount(src); b++) {
        GDALRasterBandH band = GDALGetRasterBand(src, b);
        if (GDALGetRasterColorInterpretation(band) == GCI_AlphaBand) continue;
        if (GDALRasterIO(band, GF_Read, x0, y0, w, h, values, w, h, GDT_Float32, 0, 0) != CE_None ||
            GDALRasterIO(GDALGetMaskBand(band), GF_Read, x0, y0, w, h, valid, w, h, GDT_Byte, 0,
                         0) != CE_None)
            break;
        for (size_t i = 0; i + 1 < n; i++) {
            const bool edge = (i + 1) % (size_t)w != 0 && valid[i] && valid[i + 1];
            steps[i] = edge ? fmaxf(steps[i], fabsf(values[i + 1] - values[i])) : -1;
        }
    }
    for (size_t i = 0; i + 1 < n; i++)
        if (steps[i] >= 0) steps[kept++] = steps[i];
    free(values);
    free(valid);
    return kept;
}

/* alpha: steps within a region are mostly smaller, steps between regions mostly larger.  Where the
 * sample, the raster's middle, has no two valid neighbours, zones of equal values must do. */
static bool suggest(GDALDatasetH src)
{
    const int w = GDALGetRasterXSize(src), h = GDALGetRasterYSize(src);
    const int sw = w < SAMPLE ? w : SAMPLE, sh = h < SAMPLE ? h : SAMPLE;
    float *steps = room((size_t)sw * (size_t)sh, sizeof *steps);
    const size_t n = sample(src, (w - sw) / 2, (h - sh) / 2, sw, sh, steps);
    const float step = quantile(steps, n, 0.6);
    const bool real = GDALGetRasterDataType(GDALGetRasterBand(src, 1)) >= GDT_Float32 &&
                      GDALGetRasterDataType(GDALGetRasterBand(src, 1)) <= GDT_Float64;
    const double alpha = real ? (double)step : ceil((double)step);
    printf("%.9g %.9g\n", alpha, 6 * alpha);
    free(steps);
    return true;
}

static bool draw(const char *what, GDALDatasetH src, GDALDatasetH like, picture *p)
{
    if (!strcmp(what, "saliency")) return draw_saliency(src, p);
    return draw_image(src, like, !strcmp(what, "gray"), p);
}

static bool is_picture(const char *what)
{
    static const char *const kinds[] = {"image", "rgb", "gray", "saliency"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(what, kinds[i])) return true;
    return false;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const bool draws = is_picture(what);
    if (!(draws && argc >= 4) && !(!strcmp(what, "suggest") && argc == 3)) {
        fputs(usage, stderr);
        return 2;
    }
    GDALAllRegister();
    GDALDatasetH src = GDALOpen(argv[2], GA_ReadOnly);
    if (!src || GDALGetRasterCount(src) < 1) return 1; /* GDAL has printed the reason */
    if (!draws) return suggest(src) ? 0 : 1;

    picture p;
    picture_init(&p, src);
    GDALDatasetH like = argc > 4 ? GDALOpen(argv[4], GA_ReadOnly) : src;
    const bool ok = like && draw(what, src, like, &p) && save(&p, argv[3]);
    if (!ok) fprintf(stderr, "quicklook: no picture of %s\n", argv[2]);
    if (like && like != src) GDALClose(like);
    GDALClose(src);
    free(p.rgb);
    return ok ? 0 : 1;
}
