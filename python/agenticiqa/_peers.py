"""The names of our metrics in pyiqa and piq. scripts/peers.py reads this file too, so it must not import anything."""

#: Metric name to its names in pyiqa and piq. An empty string means that the package does not have
#: the metric.
NAMES: dict[str, tuple[str, str]] = {
    "PSNR": ("psnr", "psnr"),
    "SSIM": ("ssim", "ssim"),
    "MS-SSIM": ("ms_ssim", "multi_scale_ssim"),
    "CW-SSIM": ("cw_ssim", ""),
    "FSIM": ("fsim", "fsim"),
    "VSI": ("vsi", "vsi"),
    "GMSD": ("gmsd", "gmsd"),
    "MDSI": ("", "mdsi"),
    "HaarPSI": ("", "haarpsi"),
    "NLPD": ("nlpd", ""),
    "VIF": ("vif", ""),
    "MAD": ("mad", ""),
    "BRISQUE": ("brisque", "brisque"),
    "NIQE": ("niqe", ""),
    "ILNIQE": ("ilniqe", ""),
    "PIQE": ("piqe", ""),
    "ENTROPY": ("entropy", ""),
}
