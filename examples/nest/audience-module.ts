import type { BeforeApplicationShutdown, DynamicModule } from '@nestjs/common';
import { AudienceClient, type ClientOptions } from 'audience-activation';

/** A client that Nest closes when the application is shut down, if `app.enableShutdownHooks()` was called. */
class ManagedAudienceClient extends AudienceClient implements BeforeApplicationShutdown {
  /** Ends all waits. Nest calls `onApplicationShutdown` after the last request has ended, which may take as long as a job. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.close();
  }
}

class AudienceModule {}

/** Returns a module that provides one `AudienceClient` to the whole application. */
export const audienceModule = (options: ClientOptions = {}): DynamicModule => ({
  module: AudienceModule,
  global: true,
  providers: [{ provide: AudienceClient, useFactory: () => new ManagedAudienceClient(options) }],
  exports: [AudienceClient],
});
