# SPDX-License-Identifier: MIT
"""`label` and `simplify` of xarray's DataArrays; needs xarray.

The CRS, coordinates and nodata value of an array that rioxarray opened are honoured and passed on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import xarray

from . import _arrays

__all__ = ["label", "simplify"]


def _axis_of_bands(da: xarray.DataArray, band_dim: str) -> int | None:
    if not isinstance(da, xarray.DataArray):
        raise TypeError(
            f"a {type(da).__name__} in place of a DataArray; dataset.to_array({band_dim!r}) makes one "
            "of a Dataset"
        )
    if da.ndim == 2:
        return None
    if band_dim not in da.dims:
        raise ValueError(
            f"an array with dimensions {da.dims}; band_dim says which one has the bands"
        )
    return da.dims.index(band_dim)


def _nodata_of(da: xarray.DataArray) -> Any:
    """Return the nodata value that rioxarray knows, or None."""
    return getattr(getattr(da, "rio", None), "nodata", None)


def _valid(da: xarray.DataArray, axis: int | None, mask: Any) -> Any:
    """Return where mask is not 0 and not every band holds the nodata value; None: everywhere."""
    nodata = _nodata_of(da)
    if nodata is None or np.isnan(nodata):
        return mask
    missing = da.values == nodata
    valid = ~(missing if axis is None else missing.all(axis=axis))
    return valid if mask is None else valid & (np.asarray(mask) != 0)


def label(
    da: xarray.DataArray,
    alpha: float | None = 0,
    *,
    band_dim: str = "band",
    mask: npt.ArrayLike | None = None,
    **options: Any,
) -> tuple[xarray.DataArray, int]:
    """Label the quasi-flat zones of a DataArray.

    Parameters
    ----------
    da : xarray.DataArray
        Two spatial dimensions, and `band_dim` where there are bands.  Pixels with NaN, or whose
        bands all hold rioxarray's nodata value, are invalid.
    alpha : float or None
        As that of `qfz.label`.
    band_dim : str
        Name of the dimension of the bands.
    mask : array_like, (H, W), optional
        Pixels where it is 0 or False are invalid, too.
    **options
        Further parameters of `qfz.label`, except `channel_axis`.

    Returns
    -------
    labels : xarray.DataArray of uint32
        With the spatial coordinates and the CRS of `da`; 0, its nodata value, where a pixel is
        invalid.
    n : int
        The number of regions.

    Examples
    --------
    >>> import xarray
    >>> labels, n = label(xarray.DataArray([[1, 1, 5]], {"x": [10, 20, 30]}, ("y", "x")))
    >>> n, labels.sel(x=30).item()
    (2, 2)
    """
    axis = _axis_of_bands(da, band_dim)
    valid = _valid(da, axis, mask)
    labels, n = _arrays.label(da.values, alpha, mask=valid, channel_axis=axis, **options)
    frame = da if axis is None else da.isel({band_dim: 0}, drop=True)
    made = xarray.DataArray(labels, frame.coords, frame.dims, "labels")
    if hasattr(made, "rio"):
        made = made.rio.write_nodata(0)
    return made, n


def simplify(
    da: xarray.DataArray,
    *,
    band_dim: str = "band",
    mask: npt.ArrayLike | None = None,
    **options: Any,
) -> xarray.DataArray:
    """Paint each (alpha, omega)-component of a DataArray with its mean.

    Parameters
    ----------
    da, band_dim, mask
        As those of `label`.
    **options
        Further parameters of `qfz.simplify`, except `channel_axis`.

    Returns
    -------
    painted : xarray.DataArray
        With the coordinates, attributes and type of `da`.

    Examples
    --------
    >>> import xarray
    >>> simplify(xarray.DataArray([[10, 12, 50]], dims=("y", "x")), omega=5).values.tolist()
    [[11, 11, 50]]
    """
    axis = _axis_of_bands(da, band_dim)
    valid = _valid(da, axis, mask)
    painted = _arrays.simplify(da.values, mask=valid, channel_axis=axis, **options)
    return da.copy(data=painted)
