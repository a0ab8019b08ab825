/* SPDX-License-Identifier: MIT */
/* nearest.c - the restricted edit distance (Damerau 1964), by dynamic programming over rows. */
#include "nearest.h"

#include <string.h>

enum { WORD_MAX = 31, SLIPS_MAX = 2 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Element j of row i is the distance of the first i characters of a from the first j of b; the last
 * three rows are kept. */
static int distance(const char *a, int n, const char *b, int m)
{
    int rows[3][WORD_MAX + 1];
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *const row = rows[i % 3];
        const int *const above = rows[(i + 2) % 3], *const higher = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            const int changed = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(changed, 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], 1 + higher[j - 2]);
        }
    }
    return rows[n % 3][m];
}

void nearest_offer(nearest *n, const char *name)
{
    const size_t word_n = strlen(n->word), name_n = strlen(name);
    if (word_n > WORD_MAX || name_n > WORD_MAX) return;
    const int slips = distance(n->word, (int)word_n, name, (int)name_n);
    if (slips > SLIPS_MAX || 2 * slips > (int)word_n || (n->name && slips >= n->slips)) return;
    n->name = name;
    n->slips = slips;
}
