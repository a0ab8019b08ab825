/* SPDX-License-Identifier: MIT */
/* setters.h - how an option's values get into the request; see option_setter in options.h. */
#ifndef SETTERS_H
#define SETTERS_H

#include "options.h"

/* By option.at: bool; const char *; int; int64_t; double; int. */
const char *set_flag(const option *o, request *r, const char *const *values);
const char *set_text(const option *o, request *r, const char *const *values);
const char *set_int(const option *o, request *r, const char *const *values);
const char *set_int64(const option *o, request *r, const char *const *values);
const char *set_number(const option *o, request *r, const char *const *values);
const char *set_any_number(const option *o, request *r, const char *const *values); /* NaN too */
const char *set_choice(const option *o, request *r, const char *const *values); /* its position */
const char *set_chosen_int(const option *o, request *r, const char *const *values); /* its value */
const char *set_chosen_text(const option *o, request *r, const char *const *values);
const char *set_memory(const option *o, request *r, const char *const *values);
const char *set_bytes(const option *o, request *r, const char *const *values); /* no share */

/* By option.at, a string_list: KEY=VALUE as one word, or as two. */
const char *add_key_value(const option *o, request *r, const char *const *values);
const char *add_pair(const option *o, request *r, const char *const *values);

const char *set_part(const option *o, request *r, const char *const *values); /* K/N */

const char *add_band(const option *o, request *r, const char *const *values);
const char *set_gpus(const option *o, request *r, const char *const *values);
const char *set_omega(const option *o, request *r, const char *const *values);

const char *set_ranks(const option *o, request *r, const char *const *values);

#endif
