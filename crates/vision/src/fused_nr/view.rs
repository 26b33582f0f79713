//! The input of the network: the whole image at the size used for fitting.

use crate::network::Planes;

use agenticiqa_metrics::Image;
use agenticiqa_metrics::ops::resize::{Kernel, to_size};

/// Longer side of the input in pixels. Smaller images keep their size.
const LONGER: usize = 384;
/// Minimum shorter side of the input; narrower images are stretched to it.
const SHORTER: usize = 32;

/// Returns red, green and blue planes from about -1 to 1, the range the network was trained with.
pub(super) fn of(image: &Image) -> Option<Planes> {
    let longer = image.width().max(image.height());
    let seen = |side: usize| if longer > LONGER { (side * LONGER + longer / 2) / longer } else { side }.max(SHORTER);
    let (width, height) = (seen(image.width()), seen(image.height()));
    // Box averaging down to at most twice the target size comes first, because the exact resize is
    // slow.
    let image = image.shrunk((image.width() / (2 * width)).min(image.height() / (2 * height)));
    let mut samples = Vec::with_capacity(3 * width * height);
    for channel in 0..3 {
        let plane = to_size(&image.channel(channel), width, height, Kernel::Bilinear);
        samples.extend(plane.data().iter().map(|sample| (sample - 127.0) / 128.0));
    }
    Planes::new(3, width, height, samples)
}
