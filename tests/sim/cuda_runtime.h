/* SPDX-License-Identifier: MIT */
/* Replaces CUDA's header of this name when src/gpu/ is compiled for the simulator. */
#include "sim.h"
