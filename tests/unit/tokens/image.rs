//! Tests of the private parts of `src/tokens/image.rs`.

use proptest::prelude::*;

use super::*;

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn each_provider_counts_by_its_documented_rule() {
    let count = |width, height| {
        [ImageRule::Anthropic, ImageRule::OpenAi, ImageRule::Gemini]
            .map(|rule| image_tokens(&png(width, height), rule).unwrap())
    };
    // Fits every limit; 36 × 36 patches, 2 × 2 tiles of 768 pixels, 2 × 2 tiles of 682.
    assert_eq!(count(1000, 1000), [1296, 70 + 140 * 4, 258 * 4]);
    assert_eq!(count(28, 28), [1, 70 + 140, 258]);
    assert_eq!(count(384, 384), [196, 210, 258]);
    // The example in Google's documentation.
    assert_eq!(count(960, 540)[2], 258 * 6);
    // A screen of 2,880 × 1,800 is reduced to 1,568 × 980, which is above 1,600 tokens.
    assert_eq!(count(2880, 1800)[0], 1600);
    assert_eq!(count(2880, 1800)[1], 70 + 140 * 6);
    // A strip.
    assert_eq!(count(100_000, 1), [56, 70 + 140 * 4, 258 * 391]);
}

#[test]
fn dimensions_are_read_from_headers_of_each_format() {
    let gif = b"GIF89a\x1c\0\x38\0\x80\0\0".to_vec();
    let mut webp = b"RIFF\x1e\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    webp.extend([27, 0, 0, 55, 0, 0]);
    let mut jpeg = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec();
    jpeg.extend(b"\xff\xc0\0\x11\x08\0\x38\0\x1c\x03\x01\x22\0\x02\x11\x01\x03\x11\x01");
    for image in [gif, webp, jpeg, png(28, 56)] {
        assert_eq!(image_tokens(&image, ImageRule::Anthropic), Some(2), "{image:?}");
    }
}

#[test]
fn data_without_dimensions_counts_a_fixed_amount() {
    assert_eq!(data_tokens(&vec![0xff; 1_000_000], ImageRule::Anthropic), 1600);
    assert_eq!(data_tokens(&[0xff; 7], ImageRule::Anthropic), 7);
    assert_eq!(data_tokens(&png(0, 5), ImageRule::Anthropic), 33);
    assert_eq!(data_tokens(&png(u32::MAX, 5), ImageRule::Gemini), 33);
    assert_eq!(data_tokens(&png(28, 28)[..20], ImageRule::Anthropic), 20);
}

proptest! {
    #[test]
    fn any_header_is_counted(width in 1..1u32 << 24, height in 1..1u32 << 24) {
        let [anthropic, openai] = [ImageRule::Anthropic, ImageRule::OpenAi].map(|rule| image_tokens(&png(width, height), rule));
        prop_assert!(anthropic.is_some_and(|tokens| (1..=1600).contains(&tokens)));
        prop_assert!(openai.is_some_and(|tokens| (210..=70 + 140 * 8).contains(&tokens)));
        prop_assert!(image_tokens(&png(width, height), ImageRule::Gemini).is_some_and(|tokens| tokens >= 258));
    }
}
