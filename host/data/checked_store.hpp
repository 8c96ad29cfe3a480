#pragma once
#include <filesystem>
#include <functional>
#include <string>

#include <data/store.hpp>

namespace gnnbench {

using StoreNotify = std::function<void(const std::string&)>;

/// The one door through which a store is read, but for ranks: opens it, and checks it completely (Store::check) unless this
/// user's cache folder has that it was checked, and device, inode, size and times of each of its files are what they were
/// then. Nothing in the store's own folder says that it was checked: whoever gives it away could say so. `progress` gets a
/// line before a check; it may be empty. Throws DataError as Store::open and Store::check.
Store open_checked(const std::filesystem::path& folder, const StoreNotify& progress = {});

/// Checks it now, whatever the cache says; remembers it.
Store check_now(const std::filesystem::path& folder, const StoreNotify& progress = {});

/// That this program has just written it, and so checked what it wrote.
void remember_written(const std::filesystem::path& folder);

/// The checksums of the store's blocks: its manifest's, or those that were computed when this user checked a store without;
/// empty where there are none.
FileChecksums known_checksums(const Store& store);

/// $XDG_CACHE_HOME/gnnbench, or ~/.cache/gnnbench; empty where neither is known: then nothing is remembered.
std::filesystem::path user_cache_folder();

}  // namespace gnnbench
