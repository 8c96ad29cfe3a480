#include <data/importers/zip.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <gnnbench/array_size.hpp>
#include <gnnbench/error.hpp>

#include <data/text_input.hpp>

namespace gnnbench {

namespace {

std::vector<std::byte> read_member(archive* a, const std::string& where) {
    std::vector<std::byte> bytes;
    for (;;) {
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        auto status = archive_read_data_block(a, &data, &size, &offset);
        if (status == ARCHIVE_EOF) return bytes;
        if (status != ARCHIVE_OK)
            throw DataError(
                fmt::format("cannot read {}: {}; the file is damaged or incomplete", where, archive_problem(a)));
        auto first = static_cast<const std::byte*>(data);
        array_elements(where, {static_cast<std::int64_t>(bytes.size() + size)},
                       1);  // a few bytes may unpack to any number
        bytes.insert(bytes.end(), first, first + size);
    }
}

}  // namespace

std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path, bool (*wanted)(const std::string&)) {
    auto file = path.string();
    if (!std::filesystem::is_regular_file(path))
        throw DataError(fmt::format("cannot read {}: there is no such file", file));
    std::unique_ptr<archive, ArchiveCloser> handle(archive_read_new());
    auto a = handle.get();
    archive_read_support_format_zip(a);
    if (archive_read_open_filename(a, file.c_str(), 1 << 20) != ARCHIVE_OK)
        throw DataError(fmt::format("cannot read {}: {}", file, archive_problem(a)));
    std::map<std::string, NpyArray> arrays;
    archive_entry* entry = nullptr;
    for (;;) {
        auto status = archive_read_next_header(a, &entry);
        if (status == ARCHIVE_EOF) return arrays;
        if (status != ARCHIVE_OK)
            throw DataError(fmt::format("cannot read {} as .npz: {}", file, archive_problem(a)));
        const char* pathname = archive_entry_pathname(entry);
        if (!pathname) throw DataError(fmt::format("cannot read {} as .npz: a member without a name", file));
        std::string name = pathname;
        if (!name.ends_with(".npy")) continue;
        name.resize(name.size() - 4);
        if (!wanted(name)) continue;
        auto where = fmt::format("{} ({})", file, name);
        arrays.emplace(name, NpyArray(read_member(a, where), where));
    }
}

}  // namespace gnnbench
