/* SPDX-License-Identifier: MIT */
#include "gpu/published/published.cuh"

qfz_status qfz_gpu_published_check(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity)
{
    QFZ_TRY(qfz_gpu_check_size(gpu, image->h, image->w));
    if (connectivity != 4 && connectivity != 8)
        return qfz_fail(gpu->err, QFZ_EARG, "connectivity %d", connectivity);
    if (qfz_type_is_float(image->type))
        return qfz_fail(gpu->err, QFZ_EARG, "published methods label integers");
    return QFZ_OK;
}

size_t qfz_gpu_published_bytes(qfz_method method, int32_t h, int32_t w)
{
    switch (method) {
    case QFZ_METHOD_HA4: return qfz_gpu_ha4_bytes(64, h, w);
    case QFZ_METHOD_HA4_32: return qfz_gpu_ha4_bytes(32, h, w);
    default: return 0;
    }
}

qfz_status qfz_gpu_published(qfz_gpu *gpu, qfz_method method, const qfz_gpu_image *image,
                             int connectivity, void *d_scratch, uint32_t *d_root)
{
    switch (method) {
    case QFZ_METHOD_STAVA: return qfz_gpu_stava(gpu, image, connectivity, d_root);
    case QFZ_METHOD_C2FL: return qfz_gpu_c2fl(gpu, image, connectivity, d_root);
    case QFZ_METHOD_HA4: return qfz_gpu_ha4(gpu, 64, image, connectivity, d_scratch, d_root);
    case QFZ_METHOD_HA4_32: return qfz_gpu_ha4(gpu, 32, image, connectivity, d_scratch, d_root);
    default: break;
    }
    return qfz_fail(gpu->err, QFZ_EARG, "labeling method %d", (int)method);
}
