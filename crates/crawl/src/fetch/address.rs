//! Which addresses are on the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use dehusk_settings::Fetch;

/// Whether this address may be connected to: denied networks never, allowed networks always, other addresses if they
/// are public.
pub(super) fn may_connect(address: IpAddr, fetch: &Fetch) -> bool {
    // An IPv6 address that embeds an IPv4 address is also in the networks of the IPv4 address.
    let stands_for = match address {
        IpAddr::V6(v6) => embedded_v4(v6).map(IpAddr::V4),
        IpAddr::V4(_) => None,
    };
    let lies_in = |networks: &[dehusk_settings::Network]| {
        networks.iter().any(|network| network.contains(address) || stands_for.is_some_and(|v4| network.contains(v4)))
    };
    !lies_in(&fetch.deny_networks) && (fetch.allow_private || lies_in(&fetch.allow_networks) || is_public(address))
}

/// Whether an address is public. False for this machine, private and link-local networks, multicast, documentation and
/// other special ranges (IANA special-purpose registries).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => embedded_v4(v6).map_or_else(|| is_public_v6(v6), is_public_v4),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_documentation()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19)))
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [a, b, ..] = ip.segments();
    // Global unicast is 2000::/3. It contains documentation, benchmarking, Teredo and ORCHID.
    let special =
        (a == 0x2001 && (b == 0xdb8 || b == 0 || b == 2 || (0x10..0x40).contains(&b))) || (a == 0x3fff && b < 0x1000);
    a & 0xe000 == 0x2000 && !special
}

/// The IPv4 address embedded in an IPv6 address: mapped, compatible, NAT64, 6to4.
fn embedded_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = ip.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match s {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_the_settings_come_before_what_is_public() {
        let mut fetch = dehusk_settings::Settings::default().fetch;
        let networks = |text: &str| vec![dehusk_settings::Network::parse(text).unwrap()];
        fetch.allow_networks = networks("10.1.0.0/16");
        fetch.deny_networks = networks("1.1.1.0/24");
        let may = |fetch: &Fetch, address: &str| may_connect(address.parse().unwrap(), fetch);
        assert!(
            may(&fetch, "10.1.2.3") && !may(&fetch, "10.2.0.1") && !may(&fetch, "1.1.1.1") && may(&fetch, "8.8.8.8")
        );
        fetch.allow_private = true;
        assert!(may(&fetch, "10.2.0.1") && !may(&fetch, "1.1.1.1"));
    }

    #[test]
    fn special_addresses_are_refused_in_every_form() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:a00:1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "::127.0.0.1",
            "2001:db8::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "172.32.0.1", "100.128.0.1"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
