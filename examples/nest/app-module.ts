import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Inject,
  Module,
  Post,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { type Audience, AudienceClient, AudienceError } from 'audience-activation';
import type { Response } from 'express';
import { audienceModule } from './audience-module.ts';

@Controller('audiences')
class AudiencesController {
  readonly #client: AudienceClient;

  constructor(@Inject(AudienceClient) client: AudienceClient) {
    this.#client = client;
  }

  @Post()
  build(@Body('name') name: string): Promise<Audience> {
    return this.#client.audiences.createAndWait({ name });
  }
}

@Catch(AudienceError)
class AudienceErrorFilter implements ExceptionFilter<AudienceError> {
  catch({ code, created }: AudienceError, host: ArgumentsHost): void {
    const response: Response = host.switchToHttp().getResponse();
    // The job of a created audience continues: whoever has its kind and id can wait for it again.
    const resource = created && { kind: created.kind, id: created.id };
    response.status(code === 'client-closed' ? 503 : 502).json({ code, created: resource });
  }
}

@Module({
  imports: [audienceModule()], // reads AUDIENCE_BASE_URL and AUDIENCE_TOKEN
  controllers: [AudiencesController],
  providers: [{ provide: APP_FILTER, useClass: AudienceErrorFilter }],
})
export class AppModule {}
