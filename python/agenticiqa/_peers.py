"""What pyiqa and piq call our metrics. Read by scripts/peers.py too, as a file: nothing is imported here."""

#: For each metric that one of them has the names in pyiqa and in piq ("" where there is none).
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
