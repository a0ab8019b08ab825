/* SPDX-License-Identifier: MIT */
/* What the GPU room gets instead of CUDA's own header when it is built for the host. */
#include "sim.h"
