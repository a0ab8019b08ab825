/* SPDX-License-Identifier: MIT */
/* option_table.c - the table of all options of all commands.
 *
 * An option whose meaning differs between commands has a text per command.  Every text names the
 * unit and the default of the option's value. */
#include <limits.h>
#include <math.h>

#include "setters.h"

#define FOR_LABELS (FOR_LABEL | FOR_SIMPLIFY | FOR_CUT)
#define FOR_IMAGES (FOR_LABEL | FOR_SIMPLIFY | FOR_SALIENCY | FOR_CURVE | FOR_TREE)
#define FOR_PIXELS (FOR_IMAGES | FOR_EXPLORE)
#define FOR_RASTERS (FOR_LABEL | FOR_SIMPLIFY | FOR_SALIENCY | FOR_CUT)
#define FOR_JOBS (FOR_RASTERS | FOR_CURVE | FOR_TREE)
#define FOR_READS                                                                                  \
    (FOR_JOBS | FOR_REGIONS | FOR_CHECK | FOR_EXPLORE) /* commands that read a raster */
#define FOR_ALL (FOR_JOBS | FOR_REGIONS | FOR_CHECK | FOR_INFO | FOR_BENCH)
#define FOR_PHASES (FOR_JOBS | FOR_REGIONS | FOR_INFO | FOR_RUN)
#define FOR_EVERY (FOR_ALL | FOR_EXPLORE | FOR_RUN | FOR_HELP | FOR_COMPLETION)

#define AT(member) offsetof(request, member)
#define FLAG(member) .set = set_flag, .at = AT(member)
#define TAKES(word) .argument = word
#define HELP(words) .help = {{0, words}}

static const char criterion[] = "Regions";
static const char pixels[] = "Valid pixels";
static const char output[] = "Output";
static const char running[] = "Execution";
static const char batch[] = "Batch jobs";
static const char images[] = "Generated images";
static const char general[] = "General";

const option option_table[] = {
    {"--task", TAKES("label|simplify|saliency|cut|curve|regions|tree"), .commands = FOR_INFO,
     .section = "Task",
     HELP("The command to plan. qfz info accepts the options of this command. Default: label."),
     .set = set_choice, .at = AT(job.task)},

    {"--connectivity", TAKES("4|8"), .commands = FOR_PIXELS | FOR_CHECK | FOR_INFO | FOR_BENCH,
     .section = criterion,
     .help = {{FOR_CHECK, "Neighbours of a pixel: 4 (pixels that share an edge) or 8 (pixels that "
                          "share an edge or a corner). Default: as in the metadata of RASTER; 4 "
                          "without it."},
              {0, "Neighbours of a pixel: 4 (pixels that share an edge) or 8 (pixels that share an "
                  "edge or a corner). Default: 4."}},
     .set = set_chosen_int, .at = AT(job.criterion.connectivity)},
    {"--distance", TAKES("l1|l2|linf|sam"),
     .commands = FOR_PIXELS | FOR_REGIONS | FOR_CHECK | FOR_INFO | FOR_BENCH, .section = criterion,
     .help =
         {{FOR_REGIONS, "Level of the edge between two neighbours in --neighbours, from the "
                        "bands of --stats: l1 (sum of the absolute differences), l2 (Euclidean "
                        "distance), linf (largest absolute difference) or sam (spectral angle, "
                        "in radians). Default: l1."},
          {FOR_CHECK, "Dissimilarity of two neighbours over all bands: l1 (sum of the absolute "
                      "differences), l2 (Euclidean distance), linf (largest absolute "
                      "difference) or sam (spectral angle, in radians). Default: as in the "
                      "metadata of RASTER; l1 without it."},
          {0,
           "Dissimilarity of two neighbours over all bands: l1 (sum of the absolute differences), "
           "l2 (Euclidean distance), linf (largest absolute difference) or sam (spectral angle: "
           "the angle between the two vectors of values, in radians). Default: l1."}},
     .set = set_choice, .at = AT(job.criterion.distance)},
    {"--weights", TAKES("W,W,..."), .commands = FOR_PIXELS | FOR_CHECK | FOR_INFO | FOR_BENCH,
     .section = criterion,
     .help =
         {{FOR_CHECK,
           "One weight per band, for l1, l2 and linf: each band's absolute difference is "
           "multiplied by the weight of the band. Default: as in the metadata of "
           "RASTER."},
          {0,
           "One weight per band, for l1, l2 and linf: each band's absolute difference is "
           "multiplied "
           "by the weight of the band. A weight is at least 0, and one weight is greater than 0; a "
           "band of weight 0 does not matter. Dissimilarities are then single-precision numbers. "
           "Default: no weights."}},
     .set = set_weights},
    {"--edges", TAKES("FILE"), .commands = FOR_JOBS | FOR_CHECK | FOR_INFO, .section = criterion,
     .help = {{FOR_CUT, "Cut the levels of edges in the raster FILE, which need not come from qfz "
                        "saliency. FILE takes the place of SALIENCY and has 2 bands (4-connected) "
                        "or 4 bands (8-connected) of integers or Float32, at least 0: the edges "
                        "from each pixel to the right, below, below right, below left. NaN and "
                        "nodata are no edge. Default: SALIENCY, with the metadata of qfz "
                        "saliency."},
              {FOR_LABEL, "Take the levels of edges from the raster FILE, of the size of SRC, "
                          "instead of the dissimilarities of pixels; --alpha is then required. "
                          "FILE has 2 bands (4-connected) or 4 bands (8-connected) of integers or "
                          "Float32, at least 0: the edges from each pixel to the right, below, "
                          "below right, below left. NaN and nodata are no edge. Default: the "
                          "dissimilarities."},
              {0, "Take the levels of edges from the raster FILE, of the size of SRC, instead of "
                  "the dissimilarities of pixels. FILE has 2 bands (4-connected) or 4 bands "
                  "(8-connected) of integers or Float32, at least 0: the edges from each pixel to "
                  "the right, below, below right, below left. NaN and nodata are no edge. Default: "
                  "the dissimilarities."}},
     .set = set_text, .at = AT(job.edges)},
    {"--alpha", TAKES("A[,A...]"), .commands = FOR_RASTERS | FOR_INFO, .section = criterion,
     .help = {{FOR_LABEL,
               "Regions are alpha-components: two neighbours join if their dissimilarity is at "
               "most A. A is at least 0, or inf, in the unit of the pixel values. With several "
               "A, the names of all outputs contain {alpha}, which each A replaces, and every A "
               "has its own outputs: --alpha 5,10 SRC labels_{alpha}.tif writes labels_5.tif and "
               "labels_10.tif. SRC is read once for all of them. Default: two neighbours join if "
               "their values are equal."},
              {FOR_SIMPLIFY,
               "Largest dissimilarity of two neighbours that join. A is at least 0, or inf, in "
               "the unit of the pixel values. With several A, the names of all outputs contain "
               "{alpha}, which each A replaces, and every A has its own outputs. Default: inf; "
               "--omega is then required."},
              {FOR_CUT,
               "Level of the cut: two neighbours join if the saliency of the edge between them "
               "is at most A. A is at least 0, or inf, in the unit of the saliency values. With "
               "several A, the names of all outputs contain {alpha}, which each A replaces, and "
               "every A has its own outputs. Required; no default."},
              {FOR_SALIENCY, "Accepted without effect: the output holds the regions of every "
                             "alpha. Default: none."},
              {0, "Largest dissimilarity of two neighbours that join. A is at least 0, or inf, in "
                  "the unit of the pixel values. Default: the default of the planned command."}},
     .set = set_alpha},
    {"--alpha", TAKES("A"), .commands = FOR_CHECK | FOR_BENCH, .section = criterion,
     .help = {{FOR_CHECK,
               "Labels are checked as those of alpha-components with this A, in the unit of "
               "the pixel values. Default: the alpha of the metadata of RASTER; "
               "without it, labels of equal values."},
              {0, "Largest dissimilarity of two neighbours that join, in parts label and "
                  "alpha-omega. A is at least 0, or inf, in the unit of the pixel values. "
                  "Default: equal values join in part label; inf in part alpha-omega."}},
     .set = set_number, .at = AT(job.criterion.alpha), .at_has = AT(job.criterion.has_alpha)},
    {"--regions-target", TAKES("K"), .commands = FOR_LABEL | FOR_CUT | FOR_INFO,
     .section = criterion,
     .help = {{FOR_INFO, "Largest number of regions of label or cut, from which the command finds "
                         "alpha. Not with --alpha and --background. Default: as without --alpha."},
              {FOR_CUT,
               "Cut at the least level that gives at most K regions. qfz finds the level from the "
               "curve of SALIENCY, in one more pass over it, and prints the level as alpha. Not "
               "with --alpha and --phase. Default: as --alpha says."},
              {0, "Regions are alpha-components at the least alpha that gives at most K of them. "
                  "qfz finds alpha from the curve of SRC (qfz curve), in one more pass over the "
                  "pixels, and prints alpha. Not with --alpha, --background and --phase. Default: "
                  "as without --alpha."}},
     .set = set_int64, .at = AT(job.regions_target), .low = 1, .high = 9e15},
    {"--omega", TAKES("W[,W...]"), .commands = FOR_SIMPLIFY | FOR_CHECK | FOR_INFO | FOR_BENCH,
     .section = criterion,
     .help = {{FOR_SIMPLIFY, "Largest value range (maximum - minimum) of a region: one W for all "
                             "bands, or one W per band. W is at least 0, or inf, in the unit of "
                             "the pixel values. Default: inf; --alpha is then required."},
              {FOR_CHECK,
               "Labels are checked as those of (alpha, omega)-components with this W, in the "
               "unit of the pixel values. Default: the omega of the metadata of "
               "RASTER."},
              {FOR_BENCH, "Largest value range (maximum - minimum) of a region in part "
                          "alpha-omega: one W for all bands, or one W per band, in the unit of the "
                          "pixel values. Default: 10."},
              {0,
               "Largest value range (maximum - minimum) of a region: one W for all bands, or one "
               "W per band. W is at least 0, or inf, in the unit of the pixel values. Default: "
               "inf."}},
     .set = set_omega},
    {"--min-area", TAKES("N"), .commands = FOR_IMAGES | FOR_CHECK | FOR_INFO, .section = criterion,
     .help = {{FOR_CHECK,
               "Minimum mapping unit that RASTER was made with: a number of pixels, or an area "
               "with a unit: 5000m2, 0.5ha or 0.01km2. Default: as in the metadata of "
               "RASTER."},
              {0,
               "Minimum mapping unit: every region has at least N pixels, or at least the area N "
               "with a "
               "unit: 5000m2, 0.5ha or 0.01km2. A smaller region joins the neighbour that is most "
               "similar to it, whatever alpha and omega are. Only an area of valid pixels that is "
               "smaller than N as a whole stays smaller. The result does not depend on the tiling. "
               "Default: regions of any size."}},
     .set = set_min_area},
    {"--table", TAKES("FILE"), .commands = FOR_CHECK, .section = criterion,
     HELP("Also check the table of regions FILE, of --regions: one row for each label and no "
          "other row, with the number of pixels and the bounding box in pixels. Default: no "
          "table."),
     .set = set_text, .at = AT(checked_table)},
    {"--polygons", TAKES("FILE"), .commands = FOR_CHECK, .section = criterion,
     HELP("Also check the polygons FILE, of --polygons without --simplify-tolerance: one row for "
          "each label and no other row, with the number of pixels, and a polygon that covers "
          "exactly the pixels of the label. Default: no polygons."),
     .set = set_text, .at = AT(checked_polygons)},
    {"--background", TAKES("V"), .commands = FOR_LABEL | FOR_CHECK | FOR_INFO, .section = criterion,
     HELP("Pixels with the value V in every band are background: their label is 0. Default: no "
          "background."),
     .set = set_number, .low = -INFINITY, .at = AT(job.background),
     .at_has = AT(job.has_background)},

    {"-b", TAKES("BAND[,BAND...]"), .repeats = true,
     .commands = FOR_PIXELS | FOR_REGIONS | FOR_CHECK | FOR_INFO | FOR_BENCH, .section = pixels,
     .help =
         {{FOR_REGIONS, "The band that holds the labels, counted from 1. Default: the only band "
                        "of LABELS."},
          {0,
           "Bands to use, counted from 1. Repeatable: -b 1,2 equals -b 1 -b 2. Default: every band "
           "except alpha bands."}},
     .set = add_bands, .low = 1, .high = INT_MAX},
    {"--mask", TAKES("FILE"), .commands = FOR_READS | FOR_INFO, .section = pixels,
     HELP("A raster of the size of the source raster; pixels where FILE is 0 are invalid. Default: "
          "the mask band and alpha band of the source raster."),
     .set = set_text, .at = AT(job.mask)},
    {"--nodata", TAKES("V"), .commands = FOR_READS | FOR_INFO, .section = pixels,
     .help =
         {{FOR_REGIONS, "Pixels with the label V belong to no region, as those with 0 do, instead "
                        "of those with the nodata value that LABELS declares. Default: the "
                        "nodata value of LABELS."},
          {0,
           "Nodata value, instead of the value that the source raster declares; nan is allowed. A "
           "value that the pixel type cannot hold is the value of no pixel: -9999 makes every "
           "pixel of a UInt8 raster valid. Default: the nodata value of the source raster."}},
     .set = set_any_number, .at = AT(job.nodata), .at_has = AT(job.has_nodata)},
    {"--nodata-rule", TAKES("all|any"), .commands = FOR_PIXELS | FOR_CHECK | FOR_INFO,
     .section = pixels,
     HELP("A pixel is invalid if it has the nodata value in all bands, or in any band. Default: "
          "all."),
     .set = set_choice, .at = AT(job.nodata_rule)},
    {"-oo", "--oo", TAKES("KEY=VALUE"), .repeats = true, .commands = FOR_READS | FOR_INFO,
     .section = pixels,
     HELP("Open option of the GDAL driver of the source raster. Repeatable. Default: none."),
     .set = add_key_value, .at = AT(open_options)},
    {"--window", TAKES("X,Y,W,H"), .repeats = true, .commands = FOR_EXPLORE, .section = pixels,
     HELP("Window of SRC on the page: W columns from column X on and H rows from row Y on, counted "
          "from 0. Repeatable: each window becomes a tab of the page; at most 16 windows with "
          "4194304 pixels in all. Default: the central 1024 x 1024 pixels."),
     .set = add_window},

    {"--layout", TAKES("edges|pixel|khalimsky"), .commands = FOR_SALIENCY | FOR_INFO,
     .section = output,
     HELP("Layout of the saliency raster: edges (one band per direction of neighbours; the only "
          "layout that qfz cut reads), pixel (one band: the largest saliency of the edges of each "
          "pixel) or khalimsky (one band of 2W-1 x 2H-1 values: the pixels and the edges between "
          "them). Default: edges."),
     .set = set_choice, .at = AT(job.layout)},
    {"--labels", TAKES("FILE"), .commands = FOR_SIMPLIFY | FOR_INFO, .section = output,
     HELP("Also write the labels of the regions to the raster FILE: 1..N, and 0 where the pixel is "
          "invalid. Default: no label raster."),
     .set = set_text, .at = AT(job.labels)},
    {"--regions", "--table", TAKES("FILE"),
     .commands = FOR_LABELS | FOR_TREE | FOR_REGIONS | FOR_INFO, .section = output,
     .help = {{FOR_REGIONS, "Write a table of the regions to FILE, one row per label: label, "
                            "pixels, area in square metres, centroid and bounding box. The "
                            "extension of FILE selects the GDAL vector driver: .gpkg, .csv and "
                            "others. Default: no table."},
              {FOR_CUT, "Also write a table of the regions to FILE, one row per region: label, "
                        "pixels, area in square metres, centroid and bounding box. The extension "
                        "of FILE selects the GDAL vector driver: .gpkg, .csv and others. Default: "
                        "no table."},
              {0, "Also write a table of the regions to FILE, one row per region: label, pixels, "
                  "area in square metres, centroid, bounding box, and mean, minimum, maximum and "
                  "standard deviation per band. The extension of FILE selects the GDAL vector "
                  "driver: .gpkg, .csv and others. Default: no table."}},
     .set = set_text, .at = AT(job.regions)},
    {"--attribute-table", .commands = FOR_LABELS | FOR_TREE | FOR_INFO, .section = output,
     HELP(
         "Also put the rows of --regions into the raster of labels as its raster attribute table, "
         "which QGIS shows: in a .img (HFA) or .kea file itself, in FILE.aux.xml beside a GeoTIFF. "
         "For at most 100,000 regions. simplify needs --labels too. Default: no such table."),
     FLAG(job.attribute_table)},
    {"--columns", TAKES("NAME[,NAME...]"), .commands = FOR_LABELS | FOR_REGIONS | FOR_INFO,
     .section = output,
     HELP("Columns of the table of --regions, in this order, for example label,area,mean_1. A name "
          "without the number of its band, for example mean, stands for all bands. The name "
          "default stands for the columns that a table has without this option. Only tables whose "
          "columns are named have: px_first_x, px_first_y (the first pixel), perimeter_edges, "
          "perimeter (metres), compactness, neighbours (their number), majority, majority_share, "
          "minority, minority_share (of the values of integer bands; those of --stats begin with "
          "stats_). Default: default."),
     .set = set_text, .at = AT(job.columns)},
    {"--neighbours", TAKES("FILE"), .commands = FOR_LABELS | FOR_REGIONS | FOR_INFO,
     .section = output,
     .help = {{FOR_REGIONS,
               "Write a table of the pairs of neighbours to FILE: the labels a < b, edges "
               "(sides of pixels that the two regions share), length in metres, and with "
               "--stats the mean and the least level of these edges. Regions that touch "
               "in corners only are no neighbours. Default: no table."},
              {FOR_CUT,
               "Also write a table of the pairs of neighbours to FILE: the labels a < b, edges "
               "(sides of pixels that the two regions share), length in metres, and with "
               "--stats the mean and the least l1 difference across these edges. Regions that "
               "touch in corners only are no neighbours. Default: no table."},
              {0,
               "Also write a table of the pairs of neighbours to FILE: the labels a < b, edges "
               "(sides of pixels that the two regions share), length in metres, and the mean and "
               "the least level of these edges. Regions that touch in corners only are no "
               "neighbours. Several processes of simplify need --labels too. Default: no table."}},
     .set = set_text, .at = AT(job.neighbours)},
    {"--colors", "--colours", TAKES("FILE"), .commands = FOR_LABELS | FOR_REGIONS | FOR_INFO,
     .section = output,
     HELP("Also write a raster of one byte per pixel to FILE, with a colour table in which regions "
          "that touch, in sides or corners, have different colours; 0 is no region. The extension "
          "of FILE selects the GDAL driver. Several processes of simplify need --labels too. "
          "Default: no such raster."),
     .set = set_text, .at = AT(job.colors)},
    {"--quicklook", TAKES("FILE"), .commands = FOR_RASTERS | FOR_TREE | FOR_REGIONS | FOR_INFO,
     .section = output,
     .help = {{FOR_SALIENCY, "Also draw the hierarchy into the PNG image FILE of at most 2048 x "
                             "2048 pixels: lines between the regions, the greater the saliency "
                             "the darker and wider. Default: no image."},
              {0, "Also draw the regions and their borders into the PNG image FILE of at most 2048 "
                  "x 2048 pixels; see --quicklook-style. Several processes of simplify need "
                  "--labels too. Default: no image."}},
     .set = set_text, .at = AT(job.quicklook)},
    {"--quicklook-style", TAKES("colors|means|image"),
     .commands = FOR_LABELS | FOR_TREE | FOR_REGIONS | FOR_INFO, .section = output,
     .help = {{FOR_CUT | FOR_REGIONS,
               "What --quicklook shows under the borders: colors (different where regions touch), "
               "means (each region in the mean of the image --stats) or image (the image --stats "
               "itself). Default: colors."},
              {0, "What --quicklook shows under the borders: colors (different where regions "
                  "touch), means (each region in the mean of its pixels in the picture) or image "
                  "(SRC itself). Red, green and blue are the bands so called, else bands 3, 2 and "
                  "1 of four or more. Default: colors."}},
     .set = set_choice, .at = AT(job.quicklook_style)},
    {"--polygons", TAKES("FILE"), .commands = FOR_LABELS | FOR_REGIONS | FOR_INFO,
     .section = output,
     HELP("Write the polygon of each region to FILE: label, pixels, area (square metres) and a "
          "multipolygon along the borders of the pixels, with holes, valid, in ascending order of "
          "labels. Two neighbours have the same corners along their common border. The format "
          "follows from the extension: .fgb, .gpkg, .geojsonl and others. Several processes of "
          "simplify need --labels too. Default: no polygons."),
     .set = set_text, .at = AT(job.polygons)},
    {"--simplify-tolerance", TAKES("D"), .commands = FOR_LABELS | FOR_REGIONS | FOR_INFO,
     .section = output,
     HELP("Leave out corners of --polygons that lie within D pixels of the simpler line "
          "(Douglas-Peucker). Corners where three or more regions meet stay. Neighbours keep one "
          "common line, so there are neither gaps nor overlaps, and polygons stay valid; corners "
          "stay where the simpler line would meet another one. Default: 0, all corners."),
     .set = set_number, .at = AT(job.simplify_tolerance)},
    {"--stats", TAKES("FILE[,BAND...]"), .commands = FOR_LABEL | FOR_CUT | FOR_REGIONS | FOR_INFO,
     .section = output,
     HELP("Add to the table of regions the statistics of the raster FILE, of the same size, in "
          "each region: the number of pixels with values, and per band sum, mean, minimum, maximum "
          "and standard deviation. FILE,1,3 uses these bands. A pixel that is nodata in a band "
          "used does not count. Default: no statistics."),
     .set = set_stats, .low = 1, .high = INT_MAX},
    {"-of", "--of", TAKES("FORMAT"), .commands = FOR_RASTERS | FOR_TREE | FOR_INFO,
     .section = output,
     HELP("GDAL driver of the output rasters, for example COG. Default: the driver for the "
          "extension of DST; GTiff if there is none."),
     .set = set_text, .at = AT(job.format)},
    {"-ot", "--ot", TAKES("TYPE"), .commands = FOR_RASTERS | FOR_TREE | FOR_INFO, .section = output,
     .help = {{FOR_LABEL | FOR_CUT | FOR_TREE,
               "Data type of the labels, for example UInt16. A type that "
               "cannot hold the number of regions is an error. Default: "
               "UInt32, or UInt64 for 2^32 regions or more."},
              {FOR_SIMPLIFY, "Data type of DST, for example UInt16. A type that cannot hold every "
                             "value is an error. Default: the type of SRC."},
              {FOR_SALIENCY,
               "Data type of the saliency, for example UInt32. A type that cannot "
               "hold every possible level is an error. Default: the narrowest unsigned "
               "integer type that holds the largest saliency that occurs and a nodata "
               "value; Float32 if the levels are not integers."},
              {0, "Data type of the output raster, for example UInt32. A type that cannot hold "
                  "every value is an error. Default: the default of the planned command."}},
     .set = set_text, .at = AT(job.type)},
    {"-co", "--co", TAKES("KEY=VALUE"), .repeats = true,
     .commands = FOR_RASTERS | FOR_TREE | FOR_INFO, .section = output,
     HELP("Creation option of the GDAL driver of the output rasters. Repeatable. Default for "
          "GTiff: tiled, with ZSTD compression."),
     .set = add_key_value, .at = AT(creation_options)},
    {"--overviews", TAKES("none|nearest|mode"), .commands = FOR_RASTERS | FOR_TREE | FOR_INFO,
     .section = output,
     HELP("Overviews of the output rasters in GeoTIFF and COG, exact for labels of any size: "
          "nearest "
          "(the upper left pixel of each square of 2 x 2, 4 x 4 ... pixels) or, for labels, mode "
          "(the most frequent label of the square). Default: none; nearest for COG."),
     .set = set_choice, .at = AT(job.overviews)},
    {"--count-only", .commands = FOR_LABELS | FOR_INFO, .section = output,
     HELP("Count the regions and print the result as JSON, without an output file. DST is left "
          "out."),
     FLAG(job.count_only)},
    {"--merge", .commands = FOR_RASTERS | FOR_TREE | FOR_INFO, .section = output,
     HELP("With several processes (MPI, or --part): merge the rasters of all processes into DST. "
          "Default: DST is a VRT file (.vrt) that refers to one raster per process."),
     FLAG(job.merge)},
    {"--format", TAKES("text|csv|json"), .commands = FOR_CURVE | FOR_INFO, .section = output,
     HELP("Form of the curve: text (a short table), csv (a row alpha,regions for each alpha at "
          "which the number changes) or json (the same points, and the fields below). Default: "
          "text."),
     .set = set_choice, .at = AT(curve.format)},
    {"-o", "--output", TAKES("FILE"), .commands = FOR_CURVE | FOR_INFO, .section = output,
     HELP("Write the curve to FILE. Default: stdout."), .set = set_text, .at = AT(curve.out)},
    {"--plot", TAKES("FILE"), .commands = FOR_CURVE | FOR_INFO, .section = output,
     HELP("Also draw the curve into the PNG image FILE, with logarithmic axes. Default: no plot."),
     .set = set_text, .at = AT(curve.plot)},
    {"--no-curve", .commands = FOR_EXPLORE, .section = output,
     HELP("Leave out the number of regions of the whole raster, for which SRC is read as a whole. "
          "Default: qfz curve of SRC is part of the page."),
     FLAG(explore.no_curve)},
    {"--overwrite", .commands = FOR_JOBS | FOR_REGIONS | FOR_EXPLORE | FOR_INFO, .section = output,
     HELP("Replace outputs that exist. Default: an output that exists is an error."),
     FLAG(job.overwrite)},

    {"--work", TAKES("DIR"), .commands = FOR_PHASES, .section = batch,
     .help =
         {{FOR_RUN, "Folder with the intermediate files of the job, the same for every "
                    "process of the job. Required; no default."},
          {0,
           "Folder for a journal of the job. A job with a journal can be resumed after any "
           "interruption; SIGTERM, SIGHUP and SIGUSR1 end the job with exit status 75. Default: no "
           "journal."}},
     .set = set_text, .at = AT(job.work)},
    {"--resume", .commands = FOR_JOBS | FOR_REGIONS | FOR_INFO, .section = batch,
     HELP("Resume the job whose journal is in the folder of --work, also with another number of "
          "ranks; in an empty folder the job starts from the beginning. Default: a folder that "
          "holds "
          "a journal is an error."),
     FLAG(job.resume)},
    {"--phase", TAKES("all|summarise|stitch|resolve"), .commands = FOR_PHASES, .section = batch,
     HELP("Run only this phase of the job, in one process. The processes of the job exchange files "
          "in the folder of --work. Default: all."),
     .set = set_choice, .at = AT(job.phase)},
    {"--part", TAKES("K/N"), .commands = FOR_PHASES, .section = batch,
     HELP("Process part K of N parts of the raster, K = 1..N, in phase summarise or resolve. "
          "Required in these phases; no default."),
     .set = set_part},

    {"--ranks", TAKES("N[,M]"), .commands = FOR_INFO, .section = batch,
     HELP("Plan a job of N MPI processes, M processes per node. Default: 1,1."), .set = set_ranks},

    {"--generate", TAKES("binary|white|fractal|flat|ramp"), .commands = FOR_BENCH,
     .section = images,
     HELP("Generate an image instead of reading FILE: binary (random blocks of 0 and 1), white "
          "(uniform noise), fractal (a sum of octaves of noise, similar to terrain), flat (the "
          "same with wide flat zones) or ramp (steps of 1). Default: read FILE."),
     .set = set_chosen_text, .at = AT(bench.kind)},
    {"--size", TAKES("N"), .commands = FOR_BENCH, .section = images,
     HELP("Size of generated images: N x N pixels. Default: 4096."), .set = set_int,
     .at = AT(bench.size_px), .low = 1, .high = 32768},
    {"--bits", TAKES("8|16|32"), .commands = FOR_BENCH, .section = images,
     HELP("Bits per value of generated images: 8 and 16 are unsigned integers, 32 is floating "
          "point. Default: 8."),
     .set = set_chosen_int, .at = AT(bench.bits)},
    {"--bands", TAKES("B"), .commands = FOR_BENCH, .section = images,
     HELP("Number of bands of generated images. Default: 1."), .set = set_int,
     .at = AT(bench.bands), .low = 1, .high = 64},
    {"--granularity", TAKES("G"), .commands = FOR_BENCH, .section = images,
     HELP("Side of the blocks of binary images, in pixels. Default: 4."), .set = set_int,
     .at = AT(bench.granularity_px), .low = 1, .high = 32768},
    {"--density", TAKES("P"), .commands = FOR_BENCH, .section = images,
     HELP("Percentage of the blocks of binary images that are 1. Default: 50."), .set = set_int,
     .at = AT(bench.density_percent), .low = 0, .high = 100},
    {"--seed", TAKES("S"), .commands = FOR_BENCH, .section = images,
     HELP("Seed of generated images; equal seeds give equal images on every machine. Default: 1."),
     .set = set_int64, .at = AT(bench.seed), .low = 0, .high = 9e15},
    {"--only",
     TAKES("label|features|local|merged|flattened|saliency|summarise|alpha-omega|tree|filter-25|"
           "filter-1000|saliency-25|a-omega-25"),
     .commands = FOR_BENCH, .section = running,
     HELP("With PART gpu: measure only this part of the work. Default: all."),
     .set = set_chosen_text, .at = AT(bench.gpu_part)},
    {"--mirror", TAKES("N"), .commands = FOR_BENCH, .section = images,
     HELP("Resize the image to N x N pixels: reflect it at its edges where it is smaller, crop it "
          "where it is larger. Default: the size of the image."),
     .set = set_int, .at = AT(bench.mirror_px), .low = 1, .high = 32768},

    {"--runs", TAKES("R"), .commands = FOR_BENCH, .section = running,
     HELP("Number of measured runs, after one run that is not measured. Default: 7."),
     .set = set_int, .at = AT(bench.runs), .low = 1, .high = 100000},
    {"--tile", TAKES("N"), .commands = FOR_READS | FOR_INFO, .section = running,
     HELP("Side of a tile, in pixels. The result does not depend on it. Default: derived from "
          "--memory."),
     .set = set_int, .at = AT(job.tile_px), .low = 1, .high = INT_MAX},
    {"--memory", TAKES("SIZE"), .commands = FOR_READS | FOR_INFO, .section = running,
     HELP("Upper limit of the memory of each process: 2GB, 512MiB, or 50% (of the physical "
          "memory). KB, MB, GB and TB are powers of 1000; KiB, MiB, GiB and TiB are powers of "
          "1024; a number alone is in bytes. Default: 50%."),
     .set = set_memory, .at = AT(job.memory_bytes)},
    {"-j", TAKES("N"), .commands = FOR_ALL | FOR_EXPLORE, .section = running,
     HELP("Number of threads. Default: one per processor."), .set = set_int,
     .at = AT(job.n_threads), .low = 1, .high = 4096},
    {"--engine", TAKES("auto|cpu|cuda"), .commands = FOR_JOBS | FOR_INFO | FOR_BENCH,
     .section = running,
     HELP("Engine that computes: cpu, cuda, or auto (cuda if a GPU is visible and usable and "
          "finishes first by measured rates, else cpu). The result does not depend on it. "
          "Default: auto."),
     .set = set_choice, .at = AT(job.engine)},
    {"--gpus", TAKES("N[,N...]"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     HELP("GPUs that share the tiles, counted from 0 among the GPUs that CUDA_VISIBLE_DEVICES "
          "leaves. Default: one GPU, and one more for each 2^32 pixels, as far as there are GPUs."),
     .set = set_gpus},
    {"--gpu-memory", TAKES("SIZE"), .commands = FOR_JOBS | FOR_INFO, .section = running,
     HELP("Upper limit of the memory used on each GPU, for example 20GB; units as in --memory, "
          "without %. Default: nine tenths of the GPU's memory."),
     .set = set_bytes, .at = AT(job.gpu_memory_bytes)},
    {"--method", TAKES("auto|stava|c2fl|ha4|ha4-32"), .commands = FOR_LABEL, .section = running,
     HELP("Published method that labels equal values on the GPU, for one band of integers: stava, "
          "c2fl, ha4 or ha4-32. Unless --tile or -j is given, tiles are as large as memory allows, "
          "one at a time on each GPU. auto is the fastest method of the CUDA engine. The result "
          "does not depend on it. Default: auto."),
     .set = set_chosen_text, .at = AT(job.gpu_method)},
    {"--method", TAKES("auto|connect-v1|connect-v2"), .commands = FOR_SALIENCY | FOR_SIMPLIFY,
     .section = running,
     HELP("Published method that builds the alpha-tree of each tile on the GPU: connect-v1 or "
          "connect-v2. Unless --tile or -j is given, tiles are as large as memory allows, one at a "
          "time on each GPU. auto is the fastest method of the CUDA engine. The result does not "
          "depend on it. Default: auto."),
     .set = set_chosen_text, .at = AT(job.gpu_method)},
    {"--method", TAKES("auto|stava|c2fl|ha4|ha4-32|connect-v1|connect-v2"), .commands = FOR_INFO,
     .section = running,
     HELP("Published method on the GPU: stava, c2fl, ha4 and ha4-32 of label, connect-v1 and "
          "connect-v2 of saliency and simplify; a job that the method cannot do is an error. The "
          "result does not depend on it. Default: auto."),
     .set = set_chosen_text, .at = AT(job.gpu_method)},
    {"--method", TAKES("auto|stava|c2fl|ha4|ha4-32|connect-v1|connect-v2"), .commands = FOR_BENCH,
     .section = running,
     HELP("Published method of the CUDA engine: stava, c2fl, ha4 and ha4-32 label equal values, "
          "connect-v1 and connect-v2 build alpha-trees. auto is the fastest method of the CUDA "
          "engine. The result does not depend on it. Default: auto."),
     .set = set_chosen_text, .at = AT(job.gpu_method)},
    {"--allow-network", .commands = FOR_READS | FOR_INFO, .section = running,
     HELP("Read sources over the network: SRC or --mask is a URL, a name of /vsicurl/, /vsis3/ and "
          "the like, or a VRT that names such a source; write outputs to /vsis3/, /vsigs/ "
          "and /vsiaz/. Default: such sources and outputs are an error."),
     FLAG(job.allow_network)},
    {"--trust-source", .commands = FOR_JOBS | FOR_INFO, .section = running,
     HELP("Do not compare checksums of the pixels in later passes with those of the first pass. "
          "Default: a source that changes during the job, or before --resume, is an error."),
     FLAG(job.trust_source)},
    {"--retries", TAKES("N"), .commands = FOR_READS | FOR_INFO, .section = running,
     HELP("Number of retries of a read or a write that failed, after 10 ms, 40 ms, 160 ms and so "
          "on, at most 10 s. Default: 3."),
     .set = set_int, .at = AT(job.retries), .low = 0, .high = 100},
    {"--config", TAKES("KEY=VALUE"), .pair = true, .repeats = true,
     .commands = FOR_READS | FOR_INFO, .section = running,
     HELP("Configuration option of GDAL; also as two words, KEY VALUE. Repeatable. Default: "
          "none."),
     .set = add_pair, .at = AT(config)},

    {"--log", TAKES("text|json"), .commands = FOR_JOBS | FOR_REGIONS, .section = general,
     HELP(
         "Form of the lines on stderr. json: one JSON object per line, for progress (a line per "
         "minute, also on a terminal), messages and the end; without progress bar. Default: text."),
     .set = set_choice, .at = AT(log)},
    {"--metrics", TAKES("FILE"), .commands = FOR_JOBS | FOR_REGIONS, .section = general,
     HELP("Write progress, rate, expected end, retries and the exit status to FILE, in the text "
          "format of Prometheus, every 15 seconds and at the end. An existing FILE is replaced. "
          "With several ranks, rank 0 writes its own figures. Default: no file."),
     .set = set_text, .at = AT(metrics)},
    {"-q", "--quiet", .commands = FOR_READS | FOR_INFO, .section = general,
     HELP("Print no progress and no summary on stderr; warnings and errors are printed."),
     FLAG(quiet)},
    {"--json", .commands = FOR_ALL, .section = general, HELP("Print the result on stdout as JSON."),
     FLAG(json)},
    {"--markdown", .commands = FOR_HELP, .section = general,
     HELP("Print the help of COMMAND, or of every command, as Markdown."), FLAG(markdown)},
    {"--table", .commands = FOR_HELP, .section = general,
     HELP("Print the table of all options for programs: one line per command and spelling, with "
          "the command, the option and the name of its value, separated by tabs."),
     FLAG(table)},
    {"--help", "-h", .commands = FOR_EVERY, .section = general, HELP("Print this help.")},
    {"--version", .commands = FOR_EVERY, .section = general,
     HELP("Print the version of qfz and of the libraries that qfz was built with.")},
};

const int n_options = sizeof option_table / sizeof *option_table;
_Static_assert(sizeof option_table / sizeof *option_table <= OPTIONS_MAX,
               "given[] has too few elements");
