/* SPDX-License-Identifier: MIT */
/* setters.h - the functions that check the value of an option and store it in the request; their
 * contract is option_setter of options.h. */
#ifndef SETTERS_H
#define SETTERS_H

#include "options.h"

/* Set the member at option.at, of the type named here. */
const char *set_flag(const option *o, request *r, const char *const *values);       /* bool */
const char *set_text(const option *o, request *r, const char *const *values);       /* char * */
const char *set_int(const option *o, request *r, const char *const *values);        /* int */
const char *set_int64(const option *o, request *r, const char *const *values);      /* int64_t */
const char *set_number(const option *o, request *r, const char *const *values);     /* double */
const char *set_any_number(const option *o, request *r, const char *const *values); /* or NaN */
const char *set_memory(const option *o, request *r, const char *const *values);     /* int64_t */
const char *set_bytes(const option *o, request *r, const char *const *values);      /* without % */

/* One of the choices a|b|c of option.argument: its position, as int; its value, as int; its text.
 */
const char *set_choice(const option *o, request *r, const char *const *values);
const char *set_chosen_int(const option *o, request *r, const char *const *values);
const char *set_chosen_text(const option *o, request *r, const char *const *values);

/* Append to the string_list at option.at: KEY=VALUE as one word; as one word or two. */
const char *add_key_value(const option *o, request *r, const char *const *values);
const char *add_pair(const option *o, request *r, const char *const *values);

/* Each for one member of the request. */
const char *add_bands(const option *o, request *r, const char *const *values);    /* 1,2 */
const char *set_gpus(const option *o, request *r, const char *const *values);     /* 0,1 */
const char *set_min_area(const option *o, request *r, const char *const *values); /* 25, 0.5ha */
const char *set_omega(const option *o, request *r, const char *const *values);    /* 3 or 3,5 */
const char *set_alpha(const option *o, request *r, const char *const *values);    /* 5 or 5,10 */
const char *set_part(const option *o, request *r, const char *const *values);     /* K/N */
const char *set_ranks(const option *o, request *r, const char *const *values);    /* N or N,M */
const char *set_stats(const option *o, request *r, const char *const *values);    /* FILE,1,2 */
const char *add_window(const option *o, request *r, const char *const *values);   /* X,Y,W,H */
const char *set_weights(const option *o, request *r, const char *const *values);  /* 1,0.5,0 */

#endif
