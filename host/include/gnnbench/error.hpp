#pragma once
#include <stdexcept>
#include <string>

namespace gnnbench {

/// Base of every error this project throws. The message says what was expected, what was found and what
/// to do. Destructors live in the core library, so that an error outlives the plugin that threw it.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message) : std::runtime_error(message) {}
    ~Error() override;
};

/// Bad usage or a bad experiment file: exit code 2.
class SpecError : public Error {
public:
    explicit SpecError(const std::string& message) : Error(message) {}
    ~SpecError() override;
};

/// A dataset that cannot be read or is not what it claims to be: exit code 2.
class DataError : public Error {
public:
    explicit DataError(const std::string& message) : Error(message) {}
    ~DataError() override;
};

/// The environment fails (no mpiexec, a full disk, a read-only folder): exit code 5.
class EnvironmentError : public Error {
public:
    explicit EnvironmentError(const std::string& message) : Error(message) {}
    ~EnvironmentError() override;
};

/// A plugin that cannot be found, loaded or trusted: exit code 5.
class PluginError : public Error {
public:
    explicit PluginError(const std::string& message) : Error(message) {}
    ~PluginError() override;
};

/// A device is out of memory; the trial ends as `oom`.
class OutOfMemory : public Error {
public:
    explicit OutOfMemory(const std::string& message) : Error(message) {}
    ~OutOfMemory() override;
};

/// What is asked for cannot be done with this input, which only a look at the whole input can tell; the trial ends as
/// `skipped`.
class Unsupported : public Error {
public:
    explicit Unsupported(const std::string& message) : Error(message) {}
    ~Unsupported() override;
};

/// A communication call failed; the trial ends as `failed`.
class CommunicationError : public Error {
public:
    explicit CommunicationError(const std::string& message) : Error(message) {}
    ~CommunicationError() override;
};

/// A defect of our own, never bad input: shapes that do not match, a violated contract.
class LogicError : public Error {
public:
    explicit LogicError(const std::string& message) : Error(message) {}
    ~LogicError() override;
};

/// Throws LogicError(message) unless `held` is true.
inline void require(bool held, const char* message) {
    if (!held) throw LogicError(message);
}

}  // namespace gnnbench
