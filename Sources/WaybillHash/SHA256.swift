public import WaybillModel

#if canImport(CryptoKit)
  internal import CryptoKit  // Not built on Linux.
#else
  internal import CCrypto
#endif

/// SHA-256 (FIPS 180-4) of bytes that arrive piece by piece, by the platform's own library.
///
/// One value can be used again and again: `finish` starts it anew. It is not `Sendable`; each
/// worker makes its own.
public final class SHA256 {
  #if canImport(CryptoKit)
    private var state = CryptoKit.SHA256()

    /// Starts an empty hash.
    public init() {}

    /// Adds bytes to the hash.
    public func update(_ bytes: UnsafeRawBufferPointer) { state.update(bufferPointer: bytes) }

    /// Gives the hash of everything added since the start, and starts anew.
    public func finish() -> ContentHash {
      defer { state = CryptoKit.SHA256() }
      return state.finalize().withUnsafeBytes { ContentHash(unchecked: $0) }
    }
  #else
    private let context: OpaquePointer
    // Fetched once: an implicit fetch per hash doubles the cost of a short one.
    private let algorithm: OpaquePointer

    /// Starts an empty hash.
    public init() {
      guard let context = EVP_MD_CTX_new(), let algorithm = EVP_MD_fetch(nil, "SHA256", nil) else {
        preconditionFailure("libcrypto gives no SHA-256; is its default provider installed?")
      }
      self.context = context
      self.algorithm = algorithm
      EVP_DigestInit_ex2(context, algorithm, nil)
    }

    deinit {
      EVP_MD_CTX_free(context)
      EVP_MD_free(algorithm)
    }

    /// Adds bytes to the hash.
    public func update(_ bytes: UnsafeRawBufferPointer) {
      EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// Gives the hash of everything added since the start, and starts anew.
    public func finish() -> ContentHash {
      defer { EVP_DigestInit_ex2(context, algorithm, nil) }
      return withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { out in
        var count: UInt32 = 0
        EVP_DigestFinal_ex(context, out.bindMemory(to: UInt8.self).baseAddress, &count)
        return ContentHash(unchecked: UnsafeRawBufferPointer(out))
      }
    }
  #endif

  /// The library that hashes and its version, such as `OpenSSL` and `3.0.17`; nil where the system
  /// hashes and tells no version.
  package static var library: (name: String, version: String)? {
    #if canImport(CryptoKit)
      nil
    #else
      OpenSSL_version(OPENSSL_VERSION_STRING).map { ("OpenSSL", String(cString: $0)) }
    #endif
  }

  /// Adds an array of bytes to the hash.
  public func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

  /// The hash of one array of bytes.
  public static func hash(_ bytes: [UInt8]) -> ContentHash {
    let hasher = SHA256()
    hasher.update(bytes)
    return hasher.finish()
  }
}
