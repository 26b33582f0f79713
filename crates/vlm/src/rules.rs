//! Validation rules shared by several settings.

/// Checks that a number is from `low` to `high`.
pub fn within<T: Copy + Into<f64>>(low: f64, high: f64) -> impl Fn(&T, &()) -> garde::Result {
    move |value, ()| {
        if (low..=high).contains(&(*value).into()) {
            Ok(())
        } else {
            Err(garde::Error::new(format!("must be from {low} to {high}")))
        }
    }
}
