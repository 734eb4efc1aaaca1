pub(crate) mod fsck;
pub(crate) mod staged;
