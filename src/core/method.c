/* SPDX-License-Identifier: MIT */
#include "core/method.h"

#include <stdio.h>
#include <string.h>

/* What a rule asks for that labels of equal values are not; NULL: nothing. */
static const char *not_for_labels(const qfz_rule *rule)
{
    if (rule->wants_forest) return "the table of the hierarchy";
    if (rule->edge_levels) return "levels of edges";
    if (rule->edge_bits) return "cutting a saliency raster";
    if (rule->alpha_level > 0) return "an alpha above 0";
    if (rule->n_bands > 1) return "more than one band";
    if (rule->weights) return "weights";
    if (rule->min_mass > 0) return "a least area of regions";
    if (qfz_type_is_float(rule->type)) return "floating-point rasters";
    return NULL;
}

static const char *not_for_trees(const qfz_rule *rule)
{
    return rule->edge_levels ? "levels of edges" : NULL;
}

#define KIND(k) (1u << (k))
#define BY_TREE (KIND(QFZ_TREE) | KIND(QFZ_LEVELS) | KIND(QFZ_OMEGA))

static const struct method_row {
    const char *name;
    unsigned kinds;   /* KIND() of each kind of work that the method does */
    const char *does; /* what it does: "method NAME ..." */
    const char *(*obstacle)(const qfz_rule *rule);
} methods[QFZ_N_METHODS] = {
    [QFZ_METHOD_STAVA] = {"stava", KIND(QFZ_COMPONENTS),
                          "labels equal values of one band of integers", not_for_labels},
    [QFZ_METHOD_C2FL] = {"c2fl", KIND(QFZ_COMPONENTS),
                         "labels equal values of one band of integers", not_for_labels},
    [QFZ_METHOD_HA4] = {"ha4", KIND(QFZ_COMPONENTS), "labels equal values of one band of integers",
                        not_for_labels},
    [QFZ_METHOD_HA4_32] = {"ha4-32", KIND(QFZ_COMPONENTS),
                           "labels equal values of one band of integers", not_for_labels},
    [QFZ_METHOD_CONNECT_V1] = {"connect-v1", BY_TREE, "builds alpha-trees", not_for_trees},
    [QFZ_METHOD_CONNECT_V2] = {"connect-v2", BY_TREE, "builds alpha-trees", not_for_trees},
};

/* The result of a kind of work. */
static const char *result_of(qfz_kind kind)
{
    switch (kind) {
    case QFZ_COMPONENTS: return "labels";
    case QFZ_OMEGA: return "(alpha, omega)-components";
    case QFZ_LEVELS: return "saliency";
    case QFZ_TREE: return "alpha-trees";
    case QFZ_FILTER: return "a least area of regions";
    case QFZ_JOINS: return "a curve";
    }
    return "this";
}

/* Fails with the names of the methods that do this kind of work. */
static qfz_status refuse_kind(const struct method_row *row, qfz_kind kind, qfz_error *err)
{
    char others[128] = "";
    size_t n = 0;
    for (int m = 0; m < QFZ_N_METHODS; m++)
        if (methods[m].kinds & KIND(kind) && n < sizeof others)
            n += (size_t)snprintf(others + n, sizeof others - n, "%s%s", n ? ", " : "",
                                  methods[m].name);
    if (n == 0)
        return qfz_fail(err, QFZ_EARG,
                        "method %s %s; no published method makes %s; leave --method out", row->name,
                        row->does, result_of(kind));
    return qfz_fail(err, QFZ_EARG,
                    "method %s %s and does not make %s; use one of %s, or leave --method out",
                    row->name, row->does, result_of(kind), others);
}

const char *qfz_method_name(qfz_method method)
{
    return methods[method].name;
}

qfz_status qfz_method_find(const char *name, const qfz_rule *rule, qfz_kind kind,
                           qfz_method *method, qfz_error *err)
{
    for (int m = 0; m < QFZ_N_METHODS; m++) {
        const struct method_row *const row = &methods[m];
        if (strcmp(name, row->name) != 0) continue;
        if (!(row->kinds & KIND(kind))) return refuse_kind(row, kind, err);
        const char *const what = row->obstacle(rule);
        if (what)
            return qfz_fail(err, QFZ_EARG,
                            "method %s %s and does not accept %s; leave --method out", row->name,
                            row->does, what);
        *method = (qfz_method)m;
        return QFZ_OK;
    }
    return qfz_fail(err, QFZ_EARG, "there is no method %s", name);
}
