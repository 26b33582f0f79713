//! Encodes images as PNG and JPEG, and shrinks them.

use agenticiqa_metrics::ops::resize::{self, Kernel};
use agenticiqa_metrics::{Image, Samples};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use crate::{Error, Format, Result};

/// Encodes the image as PNG with 8 bits per sample, gray or RGB. 16-bit samples are rounded.
pub fn encode_png(image: &Image) -> Result<Vec<u8>> {
    let color = if image.channels() == 1 { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
    write_png(image, &interleaved(image), color)
}

/// Encodes the image as PNG with its own bit depth (8 or 16 bits per sample), gray or RGB.
pub fn encode_png_exact(image: &Image) -> Result<Vec<u8>> {
    let Samples::Sixteen(planes) = image.samples() else { return encode_png(image) };
    let (channels, pixels) = (image.channels(), image.width() * image.height());
    // The encoder expects bytes in native order.
    let pixel = |at: usize| (0..channels).flat_map(move |channel| planes[channel * pixels + at].to_ne_bytes());
    let bytes: Vec<u8> = (0..pixels).flat_map(pixel).collect();
    write_png(image, &bytes, if channels == 1 { ExtendedColorType::L16 } else { ExtendedColorType::Rgb16 })
}

fn write_png(image: &Image, bytes: &[u8], color: ExtendedColorType) -> Result<Vec<u8>> {
    let too_large = |_| Error::corrupt(Format::Png, "too large for a PNG file");
    let width = u32::try_from(image.width()).map_err(too_large)?;
    let height = u32::try_from(image.height()).map_err(too_large)?;
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::Adaptive);
    let written = encoder.write_image(bytes, width, height, color);
    written.map_err(|error| Error::corrupt(Format::Png, error))?;
    Ok(file)
}

/// Encodes the image as JPEG without chroma subsampling (4:4:4), gray or RGB. Use it for display,
/// not for measuring.
///
/// `quality` is from 1 to 100. JPEG does not support sides above 65535 pixels.
pub fn encode_jpeg(image: &Image, quality: u8) -> Result<Vec<u8>> {
    let too_large = |_| Error::corrupt(Format::Jpeg, "too large for a JPEG file");
    let width = u16::try_from(image.width()).map_err(too_large)?;
    let height = u16::try_from(image.height()).map_err(too_large)?;
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, quality.clamp(1, 100));
    encoder.set_sampling_factor(SamplingFactor::R_4_4_4);
    encoder.set_optimized_huffman_tables(true);
    let color = if image.channels() == 1 { ColorType::Luma } else { ColorType::Rgb };
    let written = encoder.encode(&interleaved(image), width, height, color);
    written.map_err(|error| Error::corrupt(Format::Jpeg, error))?;
    Ok(file)
}

/// Shrinks the image until its longer side is at most `longest`, antialiased (MATLAB's bicubic
/// `imresize`), with 8 bits per sample. An image that is small enough is returned unchanged.
pub fn shrink(image: &Image, longest: usize) -> Result<Image> {
    let (width, height) = (image.width(), image.height());
    let side = width.max(height);
    if side <= longest.max(1) {
        return Ok(image.clone());
    }
    let scaled = |length: usize| ((length as f64 * longest.max(1) as f64 / side as f64).round() as usize).max(1);
    let (small_width, small_height) = (scaled(width), scaled(height));
    let horizontal = resize::Axis::to_length(width, small_width, Kernel::Bicubic);
    let vertical = resize::Axis::to_length(height, small_height, Kernel::Bicubic);
    let channels = image.channels();
    let mut samples = vec![0; small_width * small_height * channels];
    for channel in 0..channels {
        let add = |y: usize, weight: f32, sums: &mut [f32]| image.add_row(channel, y, weight, sums);
        let plane = resize::rows_to_size(&horizontal, &vertical, width, add);
        for (sample, value) in samples.iter_mut().skip(channel).step_by(channels).zip(plane.data()) {
            *sample = value.round().clamp(0.0, 255.0) as u8;
        }
    }
    let small = match channels {
        1 => Image::from_gray8(small_width, small_height, samples),
        _ => Image::from_rgb8(small_width, small_height, samples),
    };
    small.map_err(|error| Error::corrupt(Format::Png, error))
}

/// Interleaves the samples, at 8 bits.
fn interleaved(image: &Image) -> Vec<u8> {
    let (channels, pixels) = (image.channels(), image.width() * image.height());
    let mut bytes = vec![0; pixels * channels];
    for (index, plane) in (0..channels).map(|channel| (channel, channel * pixels..(channel + 1) * pixels)) {
        let places = bytes.iter_mut().skip(index).step_by(channels);
        match image.samples() {
            Samples::Eight(data) => places.zip(&data[plane]).for_each(|(place, &sample)| *place = sample),
            // 65535 / 255 = 257 exactly.
            Samples::Sixteen(data) => {
                let rounded = data[plane].iter().map(|&sample| ((u32::from(sample) + 128) / 257) as u8);
                places.zip(rounded).for_each(|(place, sample)| *place = sample);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;

    fn colorful(width: usize, height: usize) -> Image {
        let samples = (0..width * height * 3).map(|i| (i * 37 % 251) as u8).collect();
        Image::from_rgb8(width, height, samples).unwrap()
    }

    #[test]
    fn eight_bit_pictures_come_back_bit_by_bit() {
        for image in [colorful(31, 17), Image::from_gray8(5, 3, (0..15).map(|i| i * 16).collect()).unwrap()] {
            let picture = Decoder::default().decode(&encode_png(&image).unwrap()).unwrap();
            assert_eq!(picture.image.samples(), image.samples());
            assert_eq!(picture.image.channels(), image.channels());
            assert_eq!(picture.notes, []);
        }
    }

    #[test]
    fn sixteen_bits_are_rounded_to_eight() {
        let image = Image::from_gray16(5, 1, vec![0, 128, 129, 0x7fff, 65535]).unwrap();
        let picture = Decoder::default().decode(&encode_png(&image).unwrap()).unwrap();
        assert_eq!(picture.image.samples(), &Samples::Eight(vec![0, 0, 1, 127, 255]));
    }

    #[test]
    fn an_exact_file_keeps_all_bits() {
        let gray = Image::from_gray16(5, 1, vec![0, 128, 129, 0x7fff, 65535]).unwrap();
        let rgb = Image::from_rgb16(3, 2, (0..18).map(|i| i * 3001).collect()).unwrap();
        for image in [gray, rgb, colorful(7, 5)] {
            let picture = Decoder::default().decode(&encode_png_exact(&image).unwrap()).unwrap();
            assert_eq!((picture.image.samples(), picture.image.channels()), (image.samples(), image.channels()));
        }
    }

    #[test]
    fn shrinking_keeps_the_shape_and_the_mean_and_does_not_alias() {
        // Stripes of one pixel: without antialiasing, the result would be black or white.
        let stripes = (0..400 * 100).map(|i| if i % 2 == 0 { 0 } else { 255 }).collect();
        let small = shrink(&Image::from_gray8(400, 100, stripes).unwrap(), 100).unwrap();
        assert_eq!((small.width(), small.height(), small.channels()), (100, 25, 1));
        let Samples::Eight(samples) = small.samples() else { panic!("not 8 bits") };
        // At the borders the mirrored stripe is twice as wide.
        assert!(samples.chunks(100).all(|row| row[3..97].iter().all(|sample| (127..=129).contains(sample))));
        let flat = Image::from_rgb8(300, 2, [10, 20, 30].repeat(600)).unwrap();
        let small = shrink(&flat, 30).unwrap();
        assert_eq!((small.width(), small.height()), (30, 1));
        assert_eq!(small.samples(), &Samples::Eight([[10; 30], [20; 30], [30; 30]].concat()));
    }

    #[test]
    fn a_jpeg_file_shows_the_picture() {
        let wave = |i: usize| 128.0 + 100.0 * (i as f32 / 40.0).sin();
        let rgb: Vec<u8> = (0..96 * 64).flat_map(|i| [wave(i % 96) as u8, wave(i / 96) as u8, 40]).collect();
        let gray = Image::from_gray8(96, 64, rgb.iter().copied().step_by(3).collect()).unwrap();
        for image in [Image::from_rgb8(96, 64, rgb).unwrap(), gray] {
            let shown = Decoder::default().decode(&encode_jpeg(&image, 90).unwrap()).unwrap().image;
            assert_eq!((shown.width(), shown.height(), shown.channels()), (96, 64, image.channels()));
            for channel in 0..image.channels() {
                let (one, other) = (image.channel(channel), shown.channel(channel));
                let apart = one.data().iter().zip(other.data()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(apart < 12.0, "channel {channel} is off by {apart}");
            }
        }
        assert!(encode_jpeg(&Image::from_gray8(70_000, 1, vec![0; 70_000]).unwrap(), 90).is_err());
    }

    #[test]
    fn small_pictures_are_left_alone() {
        let image = colorful(40, 30);
        assert_eq!(shrink(&image, 40).unwrap().samples(), image.samples());
    }
}
