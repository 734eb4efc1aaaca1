pub(crate) mod fsck;
pub(crate) mod purge;
pub(crate) mod staged;
