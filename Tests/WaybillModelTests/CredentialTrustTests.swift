import Testing
import WaybillModel
import WaybillTesting

@Suite struct CredentialTrustTests {
  private static func open(_ number: UInt64) -> CredentialTrust.Request {
    CredentialTrust.Request(.open, of: UploadID(high: 1, low: number))
  }

  private static func upload(_ number: UInt64) -> UploadID { UploadID(high: 1, low: number) }

  /// A trust after the first upload was refused and a new credential was asked for.
  private static var renewed: CredentialTrust {
    var trust = CredentialTrust()
    #expect(trust.refuse(open(1), round: 0) == .renew)
    trust.renew()
    return trust
  }

  // N8.
  @Test func `many refusals ask for one new credential, and nothing is sent until it is there`() {
    var trust = CredentialTrust()
    #expect(trust.refuse(Self.open(1), round: 0) == .renew)
    #expect(trust.isRenewing)
    for number in UInt64(2)...8 {
      #expect(trust.refuse(Self.open(number), round: 0) == .wait)
    }
    trust.renew()
    #expect(trust.round == 1 && !trust.isRenewing)
    // A late reply to the old credential says nothing of the new one.
    #expect(trust.refuse(Self.open(9), round: 0) == .wait)
    #expect(trust.accept(Self.open(1), round: 1) == [])
    #expect(trust.isAccepted && !trust.isDoubted)
  }

  @Test func `what is refused again while others are accepted is refused for its own sake`() {
    var first = Self.renewed
    #expect(first.refuse(Self.open(1), round: 1) == .doubt)
    #expect(first.isDoubted && !first.isRejected)
    #expect(first.accept(Self.open(2), round: 1) == [Self.upload(1)])
    #expect(!first.isDoubted)
    // The same in the other order.
    var second = Self.renewed
    #expect(second.accept(Self.open(2), round: 1) == [])
    #expect(second.refuse(Self.open(1), round: 1) == .own)
    #expect(!second.isDoubted && !second.isRejected)
  }

  @Test func `another request of the same upload proves the credential as well`() {
    var trust = CredentialTrust()
    let commit = CredentialTrust.Request(.commit, of: Self.upload(1))
    let status = CredentialTrust.Request(.askStatus, of: Self.upload(1))
    #expect(trust.refuse(commit, round: 0) == .renew)
    trust.renew()
    #expect(trust.accept(status, round: 1) == [])
    #expect(trust.refuse(commit, round: 1) == .own)
  }

  @Test func `what was accepted before the new credential proves nothing of it`() {
    var trust = CredentialTrust()
    #expect(trust.refuse(Self.open(1), round: 0) == .renew)
    #expect(trust.accept(Self.open(2), round: 0) == [])
    trust.renew()
    #expect(trust.accept(Self.open(3), round: 0) == [])
    #expect(trust.refuse(Self.open(1), round: 1) == .doubt)
  }

  @Test func `where everybody is refused it is the account's credential`() {
    var trust = Self.renewed
    for number in UInt64(1)...3 {
      #expect(trust.refuse(Self.open(number), round: 1) == .doubt)
    }
    for left: Int64 in [0, 4] { trust.settle(workLeft: left) }
    #expect(!trust.isRejected)
    trust.settle(workLeft: 3)
    #expect(trust.isRejected)
    // A reply that was on its way proves the contrary.
    #expect(trust.accept(Self.open(4), round: 1) == [Self.upload(1)])
    #expect(!trust.isRejected)
  }

  @Test func `a long queue is not tried to its end`() {
    var trust = Self.renewed
    for number in 1...UInt64(CredentialTrust.maximumRefused) {
      #expect(!trust.isRejected)
      #expect(trust.refuse(Self.open(number), round: 1) == .doubt)
    }
    #expect(trust.isRejected)
    #expect(trust.refuse(Self.open(99), round: 1) == .wait)
    trust.change()
    #expect(!trust.isRejected)
    #expect(trust.refuse(Self.open(1), round: trust.round) == .renew)
  }

  @Test func `a credential that has worked may run out again`() {
    var trust = Self.renewed
    #expect(trust.accept(Self.open(2), round: 1) == [])
    #expect(trust.refuse(Self.open(2), round: 1) == .renew)
    trust.renew()
    #expect(trust.refuse(Self.open(2), round: 2) == .doubt)
  }

  @Test func `without a credential nothing is sent`() {
    var trust = CredentialTrust()
    trust.reject()
    #expect(trust.isRejected && !trust.isDoubted)
  }
}
