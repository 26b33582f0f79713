//! The image as the network sees it: whole, at the size that it was fitted with.

use crate::network::Planes;

use agenticiqa_metrics::Image;
use agenticiqa_metrics::ops::resize::{Kernel, to_size};

/// The longer side that the network sees, in pixels. Smaller images are seen as they are.
const LONGER: usize = 384;
/// The shorter side that it sees at least; a strip is stretched to it.
const SHORTER: usize = 32;

/// Red, green and blue from about -1 to 1, as the network was trained.
pub(super) fn of(image: &Image) -> Option<Planes> {
    let longer = image.width().max(image.height());
    let seen = |side: usize| if longer > LONGER { (side * LONGER + longer / 2) / longer } else { side }.max(SHORTER);
    let (width, height) = (seen(image.width()), seen(image.height()));
    // Means of whole boxes first, down to twice the size that is wanted at most: what is exact takes time.
    let image = image.shrunk((image.width() / (2 * width)).min(image.height() / (2 * height)));
    let mut samples = Vec::with_capacity(3 * width * height);
    for channel in 0..3 {
        let plane = to_size(&image.channel(channel), width, height, Kernel::Bilinear);
        samples.extend(plane.data().iter().map(|sample| (sample - 127.0) / 128.0));
    }
    Planes::new(3, width, height, samples)
}
