//! The standard normal distribution.

/// Probability of a value of at most `x`; absolute error below 1e-14, relative error in the lower tail below 1e-7.
///
/// Hart's algorithm 5666 as given by West, "Better approximations to cumulative normal functions" (2005).
pub fn cdf(x: f64) -> f64 {
    let distance = x.abs();
    let upper = if distance > 37.0 {
        0.0
    } else {
        let density = (-distance * distance / 2.0).exp();
        if distance < 7.071_067_811_865_47 {
            density * polynomial(distance, &NUMERATOR) / polynomial(distance, &DENOMINATOR)
        } else {
            let fraction = [4.0, 3.0, 2.0, 1.0].iter().fold(distance + 0.65, |below, k| distance + k / below);
            density / fraction / 2.506_628_274_631
        }
    };
    if x > 0.0 { 1.0 - upper } else { upper }
}

/// The value that is not exceeded with probability `p`; minus infinity at 0, infinity at 1, NaN outside.
///
/// Wichura, "Algorithm AS 241: the percentage points of the normal distribution" (1988), PPND16: about 16 digits.
pub fn quantile(p: f64) -> f64 {
    let centred = p - 0.5;
    if centred.abs() <= 0.425 {
        let r = 0.180_625 - centred * centred;
        return centred * polynomial(r, &CENTRE.0) / polynomial(r, &CENTRE.1);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let distance = if r <= 5.0 {
        polynomial(r - 1.6, &SHOULDER.0) / polynomial(r - 1.6, &SHOULDER.1)
    } else if r.is_finite() {
        polynomial(r - 5.0, &TAIL.0) / polynomial(r - 5.0, &TAIL.1)
    } else {
        r
    };
    if centred < 0.0 { -distance } else { distance }
}

/// Horner's rule, highest power first.
fn polynomial(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

const NUMERATOR: [f64; 7] = [
    3.526_249_659_989_11E-2,
    0.700_383_064_443_688,
    6.373_962_203_531_65,
    33.912_866_078_383,
    112.079_291_497_871,
    221.213_596_169_931,
    220.206_867_912_376,
];
const DENOMINATOR: [f64; 8] = [
    8.838_834_764_831_84E-2,
    1.755_667_163_182_64,
    16.064_177_579_207,
    86.780_732_202_946_1,
    296.564_248_779_674,
    637.333_633_378_831,
    793.826_512_519_948,
    440.413_735_824_752,
];
#[expect(clippy::excessive_precision, reason = "as published")]
const CENTRE: ([f64; 8], [f64; 8]) = (
    [
        2.509_080_928_730_122_672_7E3,
        3.343_057_558_358_812_810_5E4,
        6.726_577_092_700_870_085_3E4,
        4.592_195_393_154_987_145_7E4,
        1.373_169_376_550_946_112_5E4,
        1.971_590_950_306_551_442_7E3,
        1.331_416_678_917_843_774_5E2,
        3.387_132_872_796_366_608_0,
    ],
    [
        5.226_495_278_852_854_561_0E3,
        2.872_908_573_572_194_267_4E4,
        3.930_789_580_009_271_061_0E4,
        2.121_379_430_158_659_586_7E4,
        5.394_196_021_424_751_107_7E3,
        6.871_870_074_920_579_083_0E2,
        4.231_333_070_160_091_125_2E1,
        1.0,
    ],
);
#[expect(clippy::excessive_precision, reason = "as published")]
const SHOULDER: ([f64; 8], [f64; 8]) = (
    [
        7.745_450_142_783_414_076_40E-4,
        2.272_384_498_926_918_458_33E-2,
        2.417_807_251_774_506_117_70E-1,
        1.270_458_252_452_368_382_58,
        3.647_848_324_763_204_605_04,
        5.769_497_221_460_691_405_50,
        4.630_337_846_156_545_295_90,
        1.423_437_110_749_683_577_34,
    ],
    [
        1.050_750_071_644_416_843_24E-9,
        5.475_938_084_995_344_946_00E-4,
        1.519_866_656_361_645_719_66E-2,
        1.481_039_764_274_800_745_90E-1,
        6.897_673_349_851_000_045_50E-1,
        1.676_384_830_183_803_849_40,
        2.053_191_626_637_758_821_87,
        1.0,
    ],
);
#[expect(clippy::excessive_precision, reason = "as published")]
const TAIL: ([f64; 8], [f64; 8]) = (
    [
        2.010_334_399_292_288_132_65E-7,
        2.711_555_568_743_487_578_15E-5,
        1.242_660_947_388_078_438_60E-3,
        2.653_218_952_657_612_309_30E-2,
        2.965_605_718_285_048_912_30E-1,
        1.784_826_539_917_291_335_80,
        5.463_784_911_164_114_369_90,
        6.657_904_643_501_103_777_20,
    ],
    [
        2.044_263_103_389_939_785_64E-15,
        1.421_511_758_316_445_888_70E-7,
        1.846_318_317_510_054_681_80E-5,
        7.868_691_311_456_132_591_00E-4,
        1.487_536_129_085_061_485_25E-2,
        1.369_298_809_227_358_053_10E-1,
        5.998_322_065_558_879_376_90E-1,
        1.0,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.norm.cdf` and `.ppf`, SciPy 1.17.1.
    const POINTS: [(f64, f64); 8] = [
        (-8.0, 6.22096057427174e-16),
        (-5.0, 2.866515718791933e-07),
        (-2.5, 0.006209665325776132),
        (-1.0, 0.15865525393145707),
        (0.0, 0.5),
        (0.4, 0.6554217416103242),
        (1.5, 0.9331927987311419),
        (3.0, 0.9986501019683699),
    ];

    #[test]
    fn the_figures_of_scipy_are_reproduced() {
        for (x, p) in POINTS {
            assert!((cdf(x) - p).abs() < 1e-14 && (cdf(x) / p - 1.0).abs() < 1e-7, "cdf({x}) = {:e}", cdf(x));
            assert!((quantile(p) - x).abs() < 1e-8, "quantile({p}) = {}", quantile(p));
        }
    }

    #[test]
    fn the_ends_are_infinite() {
        assert_eq!(quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(quantile(1.0), f64::INFINITY);
        assert!(quantile(1.5).is_nan());
        assert_eq!(cdf(f64::NEG_INFINITY), 0.0);
        assert_eq!(cdf(f64::INFINITY), 1.0);
    }
}
