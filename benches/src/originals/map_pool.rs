//! A hash map of the IDs in use: the slow pool of Open vSwitch.

/// A pool that knows the IDs in use, each a node of its own in a chained hash map, and hands out the smallest free one.
///
/// All IDs below the hint are in use. An allocation tests the hint; if that is in use too, it looks up one ID after another from
/// the first one on. So once a low ID has been freed and allocated again, an allocation costs as much as there are IDs in use.
///
/// It is not shared by itself: its users lock it.
#[derive(Debug)]
pub struct MapPool {
    first: u32,
    count: u32,
    used: Used,
    hint: u32,
}

impl MapPool {
    /// A pool of `count` IDs from `first` on.
    ///
    /// # Panics
    /// If there are not so many IDs from `first` on.
    pub fn new(first: u32, count: u32) -> Self {
        assert!(first.checked_add(count).is_some(), "IDs of 32 bits");
        Self { first, count, used: Used::default(), hint: first }
    }

    /// Takes the smallest free ID.
    pub fn alloc(&mut self) -> Option<u32> {
        let end = self.first + self.count;
        if self.used.len == self.count as usize {
            return None;
        }
        let id = if self.hint < end && !self.used.contains(self.hint) {
            self.hint
        } else {
            // From the first one on, as the original does; from the hint on would be enough.
            (self.first..end).find(|id| !self.used.contains(*id))?
        };
        self.used.insert(id);
        self.hint = id + 1;
        Some(id)
    }

    /// Gives an ID back; one that is not in use is ignored.
    pub fn free(&mut self, id: u32) {
        if self.used.remove(id) {
            self.hint = self.hint.min(id);
        }
    }
}

/// A set of IDs: a hash map with a chain of nodes for each bucket.
#[derive(Debug, Default)]
struct Used {
    buckets: Vec<Link>,
    len: usize,
}

type Link = Option<Box<Node>>;

#[derive(Debug)]
struct Node {
    id: u32,
    next: Link,
}

impl Used {
    fn contains(&self, id: u32) -> bool {
        let mut link = self.buckets.get(self.bucket(id)).and_then(Option::as_deref);
        while let Some(node) = link {
            if node.id == id {
                return true;
            }
            link = node.next.as_deref();
        }
        false
    }

    /// Adds an ID that is not there.
    fn insert(&mut self, id: u32) {
        if self.len == self.buckets.len() {
            self.grow();
        }
        self.link(Box::new(Node { id, next: None }));
        self.len += 1;
    }

    /// Whether the ID was there.
    fn remove(&mut self, id: u32) -> bool {
        let bucket = self.bucket(id);
        let Some(mut link) = self.buckets.get_mut(bucket) else { return false };
        while link.as_ref().is_some_and(|node| node.id != id) {
            let Some(node) = link else { return false };
            link = &mut node.next;
        }
        let Some(node) = link.take() else { return false };
        *link = node.next;
        self.len -= 1;
        true
    }

    /// Twice as many buckets, of which there are always a power of two, and the nodes in the right ones.
    fn grow(&mut self) {
        let buckets = (2 * self.buckets.len()).max(16);
        let old = std::mem::replace(&mut self.buckets, std::iter::repeat_with(|| None).take(buckets).collect());
        for mut link in old {
            while let Some(mut node) = link {
                link = node.next.take();
                self.link(node);
            }
        }
    }

    fn link(&mut self, mut node: Box<Node>) {
        let bucket = self.bucket(node.id);
        if let Some(link) = self.buckets.get_mut(bucket) {
            node.next = link.take();
            *link = Some(node);
        }
    }

    /// The upper half of a product with an odd number is spread over all buckets, and is the same in every run.
    fn bucket(&self, id: u32) -> usize {
        let hash = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        hash as usize & self.buckets.len().wrapping_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_all_ids_in_order() {
        for (first, count) in [(0, 1000), (5, 1), (100, 17), (0, 0), (u32::MAX - 99, 99)] {
            let mut pool = MapPool::new(first, count);
            for round in 0..2 {
                let ids: Vec<u32> = std::iter::from_fn(|| pool.alloc()).collect();
                assert_eq!(ids, (first..first + count).collect::<Vec<_>>(), "{count} IDs, round {round}");
                ids.into_iter().rev().for_each(|id| pool.free(id));
            }
        }
    }

    #[test]
    fn always_the_smallest_free_id() {
        let mut pool = MapPool::new(10, 100);
        let mut free: std::collections::BTreeSet<u32> = (10..110).collect();
        let mut random = crate::scenario::pool::Random::new(7);
        let mut held = Vec::new();
        for _ in 0..5000 {
            if random.up_to(1) == 0 {
                let id = pool.alloc();
                assert_eq!(id, free.pop_first());
                held.extend(id);
            } else if !held.is_empty() {
                let id = held.swap_remove(random.up_to(held.len() as u32 - 1) as usize);
                pool.free(id);
                free.insert(id);
            }
        }
    }

    #[test]
    fn freeing_what_is_not_in_use_is_ignored() {
        let mut pool = MapPool::new(10, 3);
        for unused in [9, 10, 13] {
            pool.free(unused);
        }
        assert_eq!([pool.alloc(), pool.alloc()], [Some(10), Some(11)]);
        pool.free(10);
        pool.free(10);
        assert_eq!([pool.alloc(), pool.alloc(), pool.alloc()], [Some(10), Some(12), None]);
    }
}
