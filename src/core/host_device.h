/* SPDX-License-Identifier: MIT */
/* host_device.h - how to declare functions that the CPU and the GPU share. */
#ifndef QFZ_HOST_DEVICE_H
#define QFZ_HOST_DEVICE_H

#ifdef __CUDACC__
#define QFZ_HOST_AND_DEVICE static __host__ __device__ __forceinline__
#else
#define QFZ_HOST_AND_DEVICE static inline
#endif

#endif
