"""What is known of each metric, in the form that pyiqa has it."""

DEFAULT_CONFIGS = {
    name: {"metric_mode": "NR", "score_range": "0, 1"}
    for name in (
        "mean",
        "minimum",
        "maximum",
        "red",
        "green",
        "blue",
        "first",
        "last",
        "area",
        "constant",
        "scaled",
        "raises",
        "prints",
        "dies",
        "dies_once",
        "hangs",
        "hangs_while_created",
        "waits",
        "garbage",
        "floods",
        "no_weights",
        "no_module",
        "nan",
        "many",
    )
}
DEFAULT_CONFIGS.update(
    {
        name: {"metric_mode": "FR", "lower_better": True, "score_range": "0, 1"}
        for name in (
            "mean_error",
            "largest_error",
            "squared_error",
            "nothing",
        )
    }
)
