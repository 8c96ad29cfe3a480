#include "plugin/description.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/error.hpp>

namespace gnnbench {
namespace {

/// An ELF file, read by its headers; every access is checked to be inside the file.
class ElfFile {
public:
    explicit ElfFile(const std::filesystem::path& path) : path_(path) {
        // Not blocking: opening a pipe would wait for its writer.
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor_ < 0) refuse(std::strerror(errno));
        struct stat info{};
        if (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) close_and_refuse("it is no regular file");
        size_ = static_cast<std::uint64_t>(info.st_size);
    }
    ElfFile(const ElfFile&) = delete;
    ~ElfFile() { ::close(descriptor_); }

    [[noreturn]] void refuse(const std::string& why) const {
        throw PluginError(fmt::format("{} cannot be opened: {}.", path_.string(), why));
    }
    bool holds(std::uint64_t offset, std::uint64_t bytes) const {
        return bytes <= size_ && offset <= size_ - bytes;
    }

    /// `count` entries of a table from `offset` on.
    template <class T>
    std::vector<T> table(std::uint64_t offset, std::uint64_t count) const {
        if (count > size_ / sizeof(T) || !holds(offset, count * sizeof(T))) refuse("it is damaged or truncated");
        std::vector<T> entries(count);
        const std::size_t bytes = count * sizeof(T);
        if (::pread(descriptor_, entries.data(), bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes))
            refuse("it cannot be read");
        return entries;
    }
    template <class T>
    T read(std::uint64_t offset) const {
        return table<T>(offset, 1).front();
    }

private:
    [[noreturn]] void close_and_refuse(const std::string& why) {
        ::close(descriptor_);
        refuse(why);
    }

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
};

Elf64_Ehdr read_header(const ElfFile& file) {
    if (!file.holds(0, sizeof(Elf64_Ehdr))) file.refuse("it is not a shared library");
    const auto header = file.read<Elf64_Ehdr>(0);
    const bool elf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (!elf || header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN ||
        header.e_phentsize != sizeof(Elf64_Phdr) || header.e_shentsize != sizeof(Elf64_Shdr))
        file.refuse("it is not a shared library for this machine");
    return header;
}

/// Checks what the dynamic loader will map: touching a page beyond the file's end would kill the process.
std::vector<Elf64_Phdr> read_segments(const ElfFile& file, const Elf64_Ehdr& header) {
    auto segments = file.table<Elf64_Phdr>(header.e_phoff, header.e_phnum);
    for (const Elf64_Phdr& s : segments)
        if (s.p_type == PT_LOAD && !file.holds(s.p_offset, s.p_filesz))
            file.refuse("it is damaged, or was cut short");
    return segments;
}

/// The address of an exported object of at least `bytes`.
std::optional<std::uint64_t> find_symbol(const ElfFile& file, const Elf64_Ehdr& header, const std::string& name,
                                         std::uint64_t bytes) {
    const auto sections = file.table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    for (const Elf64_Shdr& dynamic : sections) {
        if (dynamic.sh_type != SHT_DYNSYM) continue;
        if (dynamic.sh_link >= sections.size()) file.refuse("it is damaged");
        const Elf64_Shdr& texts = sections[dynamic.sh_link];
        const std::vector<char> names = file.table<char>(texts.sh_offset, texts.sh_size);
        for (const auto& symbol : file.table<Elf64_Sym>(dynamic.sh_offset, dynamic.sh_size / sizeof(Elf64_Sym))) {
            const std::size_t at = symbol.st_name;
            const bool same = at + name.size() < names.size() && names[at + name.size()] == '\0' &&
                              std::memcmp(names.data() + at, name.data(), name.size()) == 0;
            if (same && symbol.st_shndx != SHN_UNDEF && symbol.st_size >= bytes) return symbol.st_value;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<PluginInfo> read_description(const std::filesystem::path& path) {
    constexpr std::size_t plain = offsetof(PluginInfo, name);  // what needs no relocation
    const ElfFile file(path);
    const Elf64_Ehdr header = read_header(file);
    const std::vector<Elf64_Phdr> segments = read_segments(file, header);
    const auto address = find_symbol(file, header, "gnnbench_plugin_info", plain);
    if (!address) return std::nullopt;
    for (const Elf64_Phdr& s : segments) {
        if (s.p_type != PT_LOAD || *address < s.p_vaddr || s.p_filesz < plain ||
            *address - s.p_vaddr > s.p_filesz - plain)
            continue;
        PluginInfo info{};
        std::memcpy(static_cast<void*>(&info), file.table<char>(s.p_offset + (*address - s.p_vaddr), plain).data(),
                    plain);
        return info;
    }
    file.refuse("its description is not in the file");
}

}  // namespace gnnbench
