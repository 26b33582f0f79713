//! Embedded ICC profiles: converts pixels to sRGB.
//!
//! A profile that is effectively sRGB (no color moves by more than one code value) changes
//! nothing, so the pixels stay those of the file. A profile that cannot be used causes a note, not
//! an error, as in every image viewer.

use moxcms::{ColorProfile, DataColorSpace, Layout as Channels, RenderingIntent, TransformOptions};
use rayon::prelude::*;

use crate::Note;
use crate::raster::{Layout, Raster, Samples};

/// Pixels that are converted at a time.
const STRIP: usize = 1 << 15;

/// Maximum change of colors, in 8-bit code values, under a profile that counts as sRGB.
const TOLERANCE: u8 = 1;

/// The same for profiles named sRGB; small profiles only approximate its curve.
const NAMED_TOLERANCE: u8 = 3;

/// Converts the pixels from the profile to sRGB and returns a note. Returns `None` if the profile
/// is sRGB.
pub(crate) fn to_srgb(raster: &mut Raster, icc: &[u8]) -> Option<Note> {
    match convert(raster, icc) {
        Ok(None) => None,
        Ok(Some(name)) => Some(Note::ProfileConverted { name }),
        Err(reason) => Some(Note::ProfileIgnored { reason }),
    }
}

/// Returns the profile's name if it was applied, `None` if it is sRGB, or the reason why it cannot
/// be used.
fn convert(raster: &mut Raster, icc: &[u8]) -> Result<Option<String>, String> {
    let profile = ColorProfile::new_from_slice(icc).map_err(|error| format!("it cannot be read ({error})"))?;
    let name = name(&profile);
    let mismatch = || Err(format!("\"{name}\" is for {:?} pixels", profile.color_space));
    match (raster.layout, profile.color_space) {
        (Layout::Rgb | Layout::Rgba, DataColorSpace::Rgb) => {
            if is_srgb(&profile, &name)? {
                return Ok(None);
            }
            convert_rgb(raster, &profile)?;
        }
        (Layout::Gray | Layout::GrayAlpha, DataColorSpace::Gray | DataColorSpace::Rgb) => {
            if !convert_gray(raster, &profile, &name)? {
                return Ok(None);
            }
        }
        (Layout::Cmyk, DataColorSpace::Cmyk) => convert_cmyk(raster, &profile)?,
        _ => return mismatch(),
    }
    Ok(Some(name))
}

/// The profile's description, in English if there are several languages.
fn name(profile: &ColorProfile) -> String {
    use moxcms::ProfileText;
    let text = match &profile.description {
        Some(ProfileText::PlainString(text)) => text.clone(),
        Some(ProfileText::Localizable(texts)) => {
            let english = texts.iter().find(|text| text.language == "en").or(texts.first());
            english.map(|text| text.value.clone()).unwrap_or_default()
        }
        Some(ProfileText::Description(text)) if text.ascii_string.is_empty() => text.unicode_string.clone(),
        Some(ProfileText::Description(text)) => text.ascii_string.clone(),
        None => String::new(),
    };
    let text: String = text.chars().filter(|c| !c.is_control()).take(60).collect();
    if text.trim().is_empty() { "unnamed".to_owned() } else { text.trim().to_owned() }
}

/// Uses floating point where possible: accuracy comes before speed.
fn options() -> TransformOptions {
    TransformOptions { rendering_intent: RenderingIntent::Perceptual, prefer_fixed_point: false, ..Default::default() }
}

fn fail(error: moxcms::CmsError) -> String {
    format!("it cannot be applied ({error})")
}

/// Whether a grid of colors stays unchanged.
fn is_srgb(profile: &ColorProfile, name: &str) -> Result<bool, String> {
    const STEPS: usize = 9;
    let level = |i: usize| (i * 255 / (STEPS - 1)) as u8;
    let grid = (0..STEPS * STEPS * STEPS).flat_map(|i| [i / STEPS / STEPS, i / STEPS % STEPS, i % STEPS].map(level));
    let ramp = (0..=255).flat_map(|value| [value; 3]);
    let colors: Vec<u8> = grid.chain(ramp).collect();
    let mut converted = vec![0; colors.len()];
    let transform = profile
        .create_transform_8bit(Channels::Rgb, &ColorProfile::new_srgb(), Channels::Rgb, options())
        .map_err(fail)?;
    transform.transform(&colors, &mut converted).map_err(fail)?;
    Ok(stays(&colors, &converted, name))
}

/// Whether all gray levels stay unchanged. For an RGB profile on a gray image, only its grays
/// count.
fn is_srgb_gray(profile: &ColorProfile, name: &str) -> Result<bool, String> {
    let (layout, copies) = gray_layout(profile);
    let levels: Vec<u8> = (0..=255).flat_map(|level| std::iter::repeat_n(level, copies)).collect();
    let mut converted = vec![0; 256 * 3];
    let srgb = ColorProfile::new_srgb();
    let transform = profile.create_transform_8bit(layout, &srgb, Channels::Rgb, options()).map_err(fail)?;
    transform.transform(&levels, &mut converted).map_err(fail)?;
    let expected: Vec<u8> = (0..=255).flat_map(|level| [level; 3]).collect();
    Ok(stays(&expected, &converted, name))
}

/// How many copies of a gray sample the profile expects per pixel.
fn gray_layout(profile: &ColorProfile) -> (Channels, usize) {
    match profile.color_space {
        DataColorSpace::Gray => (Channels::Gray, 1),
        _ => (Channels::Rgb, 3),
    }
}

fn stays(before: &[u8], after: &[u8], name: &str) -> bool {
    let tolerance = if name.contains("sRGB") { NAMED_TOLERANCE } else { TOLERANCE };
    before.iter().zip(after).all(|(a, b)| a.abs_diff(*b) <= tolerance)
}

/// Converts RGB. 8-bit samples use the 16-bit transform, because the 8-bit transform is off by one
/// code value in one of twenty samples.
fn convert_rgb(raster: &mut Raster, profile: &ColorProfile) -> Result<(), String> {
    let srgb = ColorProfile::new_srgb();
    let layout = if raster.layout == Layout::Rgba { Channels::Rgba } else { Channels::Rgb };
    let strip = STRIP * raster.layout.channels();
    let transform = profile.create_transform_16bit(layout, &srgb, layout, options()).map_err(fail)?;
    match &mut raster.samples {
        Samples::Eight(data) => data.par_chunks_mut(strip).try_for_each(|part| {
            let wide: Vec<u16> = part.iter().map(|&value| u16::from(value) * 257).collect();
            let mut converted = vec![0; wide.len()];
            transform.transform(&wide, &mut converted)?;
            part.iter_mut().zip(converted).for_each(|(value, wide)| *value = narrow(wide));
            Ok(())
        }),
        Samples::Sixteen(data) => data.par_chunks_mut(strip).try_for_each(|part| {
            let before = part.to_vec();
            transform.transform(&before, part)
        }),
    }
    .map_err(fail)
}

/// The nearest 8-bit code value.
fn narrow(value: u16) -> u8 {
    ((u32::from(value) + 128) / 257) as u8
}

/// Converts gray through a table of all its values. Returns whether anything changed.
fn convert_gray(raster: &mut Raster, profile: &ColorProfile, name: &str) -> Result<bool, String> {
    if is_srgb_gray(profile, name)? {
        return Ok(false);
    }
    let channels = raster.layout.channels();
    match &mut raster.samples {
        Samples::Eight(data) => {
            let levels: Vec<u16> = (0..=255).map(|level| level * 257).collect();
            let table: Vec<u8> = gray_table(profile, &levels)?.into_iter().map(narrow).collect();
            data.par_chunks_mut(channels << 16).for_each(|part| {
                part.iter_mut().step_by(channels).for_each(|value| *value = table[usize::from(*value)]);
            });
        }
        Samples::Sixteen(data) => {
            let table = gray_table(profile, &(0..=u16::MAX).collect::<Vec<_>>())?;
            data.par_chunks_mut(channels << 16).for_each(|part| {
                part.iter_mut().step_by(channels).for_each(|value| *value = table[usize::from(*value)]);
            });
        }
    }
    Ok(true)
}

/// The gray `levels` after conversion. Gray stays neutral in sRGB, so one channel is enough.
fn gray_table(profile: &ColorProfile, levels: &[u16]) -> Result<Vec<u16>, String> {
    let srgb = ColorProfile::new_srgb();
    let (layout, copies) = gray_layout(profile);
    let ramp: Vec<u16> = levels.iter().flat_map(|&level| std::iter::repeat_n(level, copies)).collect();
    let mut converted = vec![0; levels.len() * 3];
    let transform = profile.create_transform_16bit(layout, &srgb, Channels::Rgb, options()).map_err(fail)?;
    transform.transform(&ramp, &mut converted).map_err(fail)?;
    Ok(converted.chunks_exact(3).map(|pixel| pixel[1]).collect())
}

fn convert_cmyk(raster: &mut Raster, profile: &ColorProfile) -> Result<(), String> {
    let srgb = ColorProfile::new_srgb();
    let pixels = raster.width * raster.height;
    // The four channels of a CMYK profile use the four-channel layout.
    let (from, to) = (Channels::Rgba, Channels::Rgb);
    raster.samples = match &raster.samples {
        Samples::Eight(data) => {
            let transform = profile.create_transform_8bit(from, &srgb, to, options()).map_err(fail)?;
            let mut rgb = vec![0; pixels * 3];
            let strips = data.par_chunks(4 * STRIP).zip(rgb.par_chunks_mut(3 * STRIP));
            strips.try_for_each(|(inks, rgb)| transform.transform(inks, rgb)).map_err(fail)?;
            Samples::Eight(rgb)
        }
        Samples::Sixteen(data) => {
            let transform = profile.create_transform_16bit(from, &srgb, to, options()).map_err(fail)?;
            let mut rgb = vec![0; pixels * 3];
            let strips = data.par_chunks(4 * STRIP).zip(rgb.par_chunks_mut(3 * STRIP));
            strips.try_for_each(|(inks, rgb)| transform.transform(inks, rgb)).map_err(fail)?;
            Samples::Sixteen(rgb)
        }
    };
    raster.layout = Layout::Rgb;
    Ok(())
}
